import Foundation
import TestSupport
import Testing

/// Text for people depends on the locale; text for machines doesn't.
struct LocaleArgumentsTests {
    private let environment = TestEnvironment()
    private let date = Date(timeIntervalSince1970: 1_709_208_000)  // 29 February 2024, noon

    @Test(arguments: Locales.all) func `What machines read is the same everywhere`(_ locale: Locale) throws {
        struct Price: Codable, Equatable {
            let amount: Double
            let at: Date
        }
        environment.locale.next = locale
        let encoder = environment.jsonEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let json = try encoder.encode(Price(amount: 1234.5, at: date))
        #expect(String(decoding: json, as: UTF8.self) == #"{"amount":1234.5,"at":"2024-02-29T12:00:00Z"}"#)

        let decoder = environment.jsonDecoder()
        decoder.dateDecodingStrategy = .iso8601
        #expect(try decoder.decode(Price.self, from: json) == Price(amount: 1234.5, at: date))
    }

    @Test(
        arguments: zip(
            Locales.all,
            [
                "2/29/24", "2/29/24", "29/02/2024", "29.02.24", "2024/2/29", "2024/02/29", "29/02/2024", "2024. 2. 29.",
                "٢٩\u{200F}/٢\u{200F}/٢٠٢٤", "29.2.2024", "29/2/24", "29/2/24", "29.02.2024",
            ]))
    func `A date is written as people write it`(_ locale: Locale, _ written: String) {
        environment.locale.next = locale
        let formatter = environment.dateFormatter()
        formatter.dateStyle = .short
        formatter.timeStyle = .none
        #expect(formatter.string(from: date) == written)
    }
}
