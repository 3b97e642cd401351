import Foundation

/// Locales that differ in things that break code: digits, separators, calendars, text direction.
public enum Locales {
    /// The neutral locale of text that machines read and write.
    public static let posix = Locale(identifier: "en_US_POSIX")
    /// English (United States): the default of a ``TestEnvironment``.
    public static let us = Locale(identifier: "en_US")
    /// English (United Kingdom): the day before the month.
    public static let uk = Locale(identifier: "en_GB")
    /// German (Germany): a comma before decimals.
    public static let germany = Locale(identifier: "de_DE")
    /// Simplified Chinese (China).
    public static let china = Locale(identifier: "zh_CN")
    /// Japanese (Japan): a currency without decimals.
    public static let japan = Locale(identifier: "ja_JP")
    /// Portuguese (Brazil).
    public static let brazil = Locale(identifier: "pt_BR")
    /// Korean (South Korea).
    public static let korea = Locale(identifier: "ko_KR")
    /// Arabic (Saudi Arabia): right to left, other digits, the Islamic calendar.
    public static let saudiArabia = Locale(identifier: "ar_SA")
    /// Hebrew (Israel): right to left.
    public static let israel = Locale(identifier: "he_IL")
    /// Hindi (India): digits grouped by two above the thousands.
    public static let india = Locale(identifier: "hi_IN")
    /// Thai (Thailand): the Buddhist calendar.
    public static let thailand = Locale(identifier: "th_TH")
    /// Turkish (Türkiye): an uppercase i has a dot.
    public static let turkey = Locale(identifier: "tr_TR")

    /// All these locales.
    public static let all = [
        posix, us, uk, germany, china, japan, brazil, korea, saudiArabia, israel, india, thailand, turkey,
    ]
}

/// The errors that a test threw, by locale.
public struct LocaleFailures: Error, CustomStringConvertible {
    /// The locales that failed, in the order they were tried, and their errors.
    public let failures: [(locale: Locale, error: any Error)]

    /// One line for each locale: `de_DE: expected 1.5, got 1,5`.
    public var description: String {
        failures.map { "\($0.locale.identifier): \($0.error)" }.joined(separator: "\n")
    }
}

extension TestEnvironment {
    /// Runs a test once for each locale, with that locale set in the environment. All locales are tried, even if one fails.
    ///
    /// - Parameters:
    ///   - locales: The locales to try, in order.
    ///   - body: The test, which throws if it fails; an expectation that only records an issue doesn't name the locale.
    /// - Throws: ``LocaleFailures`` with all the failures.
    public func forEachLocale(
        _ locales: [Locale] = Locales.all, _ body: (Locale) throws -> Void
    ) throws(LocaleFailures) {
        let failures = locales.compactMap { tried -> (locale: Locale, error: any Error)? in
            do {
                try locale.with(tried) { try body(tried) }
                return nil
            } catch {
                return (tried, error)
            }
        }
        guard failures.isEmpty else { throw LocaleFailures(failures: failures) }
    }
}
