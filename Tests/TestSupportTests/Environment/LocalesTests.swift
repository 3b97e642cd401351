import Foundation
import TestSupport
import Testing

struct LocalesTests {
    private let environment = TestEnvironment()

    @Test func `The locales differ in number format, text direction, and calendar`() {
        func number(_ locale: Locale) -> String? {
            environment.locale.next = locale
            return environment.numberFormatter().string(from: 1_234_567.5)
        }
        #expect(number(Locales.us) == "1,234,567.5")
        #expect(number(Locales.germany) == "1.234.567,5")
        #expect((1_234_567.5).formatted(.number.locale(Locales.india)) == "12,34,567.5")
        for locale in [Locales.saudiArabia, Locales.israel] { #expect(locale.language.characterDirection == .rightToLeft) }
        #expect(Locales.thailand.calendar.identifier == .buddhist)
        #expect(Set(Locales.all).count == 13)
    }

    @Test func `The environment runs a block once per locale and then restores its own locale`() throws {
        environment.locale.next = Locales.korea
        var seen: [Locale] = []
        try environment.forEachLocale { locale in
            #expect(environment.locale() == locale)
            seen.append(locale)
        }
        #expect(seen == Locales.all)
        #expect(environment.locale() == Locales.korea)
    }

    @Test func `A check over several locales names every locale that fails`() {
        struct Wrong: Error, CustomStringConvertible {
            let description: String
        }
        let error = #expect(throws: LocaleFailures.self) {
            try environment.forEachLocale([Locales.us, Locales.germany, Locales.brazil]) { _ in
                let text = environment.numberFormatter().string(from: 1.5)
                guard text == "1.5" else { throw Wrong(description: "expected 1.5, got \(text ?? "nothing")") }
            }
        }
        #expect(error?.failures.map(\.locale) == [Locales.germany, Locales.brazil])
        #expect(error?.description == "de_DE: expected 1.5, got 1,5\npt_BR: expected 1.5, got 1,5")
        #expect(environment.locale() == Locales.us)
    }
}

/// Text for people depends on the locale; text for machines doesn't.
struct LocaleArgumentsTests {
    private let environment = TestEnvironment()
    private let date = Date(timeIntervalSince1970: 1_709_208_000)  // 29 February 2024, noon

    @Test(arguments: Locales.all) func `JSON is the same in every locale`(_ locale: Locale) throws {
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
    func `A short date is written in the form of its locale`(_ locale: Locale, _ written: String) {
        environment.locale.next = locale
        let formatter = environment.dateFormatter()
        formatter.dateStyle = .short
        formatter.timeStyle = .none
        #expect(formatter.string(from: date) == written)
    }
}
