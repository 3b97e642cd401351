import Foundation
import TestSupport
import Testing

struct LocalesTests {
    private let environment = TestEnvironment()

    @Test func `The locales differ in what breaks code`() {
        func number(_ locale: Locale) -> String? {
            environment.locale.next = locale
            return environment.numberFormatter().string(from: 1_234_567.5)
        }
        #expect(number(Locales.us) == "1,234,567.5")
        #expect(number(Locales.germany) == "1.234.567,5")
        #expect((1_234_567.5).formatted(.number.locale(Locales.india)) == "12,34,567.5")
        #expect(Locales.saudiArabia.language.characterDirection == .rightToLeft)
        #expect(Locales.israel.language.characterDirection == .rightToLeft)
        #expect(Locales.thailand.calendar.identifier == .buddhist)
        #expect(Set(Locales.all).count == 13)
    }

    @Test func `The block runs once for each locale, which is the environment's meanwhile`() throws {
        environment.locale.next = Locales.korea
        var seen: [Locale] = []
        try environment.forEachLocale { locale in
            #expect(environment.locale() == locale)
            seen.append(locale)
        }
        #expect(seen == Locales.all)
        #expect(environment.locale() == Locales.korea)
    }

    @Test func `All locales that fail are named`() throws {
        struct Wrong: Error, CustomStringConvertible {
            let description: String
        }
        let error = #expect(throws: LocaleFailures.self) {
            try environment.forEachLocale([Locales.us, Locales.germany, Locales.brazil]) { _ in
                let text = environment.numberFormatter().string(from: 1.5)
                guard text == "1.5" else { throw Wrong(description: "expected 1.5, got \(text ?? "nothing")") }
            }
        }
        #expect(try #require(error).failures.map(\.locale) == [Locales.germany, Locales.brazil])
        #expect(error?.description == "de_DE: expected 1.5, got 1,5\npt_BR: expected 1.5, got 1,5")
        #expect(environment.locale() == Locales.us)
    }
}
