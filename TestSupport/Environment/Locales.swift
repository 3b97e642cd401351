import Foundation

/// Locales that differ in what breaks code: digits, separators, calendars, the direction of text.
public enum Locales {
    /// No one's: what machines read and write.
    public static let posix = Locale(identifier: "en_US_POSIX")
    /// English of the United States: the default of a ``TestEnvironment``.
    public static let us = Locale(identifier: "en_US")
    /// English of the United Kingdom: the day before the month.
    public static let uk = Locale(identifier: "en_GB")
    /// German of Germany: a comma before decimals.
    public static let germany = Locale(identifier: "de_DE")
    /// Simplified Chinese of China.
    public static let china = Locale(identifier: "zh_CN")
    /// Japanese of Japan: a currency without decimals.
    public static let japan = Locale(identifier: "ja_JP")
    /// Portuguese of Brazil.
    public static let brazil = Locale(identifier: "pt_BR")
    /// Korean of South Korea.
    public static let korea = Locale(identifier: "ko_KR")
    /// Arabic of Saudi Arabia: right to left, other digits, the Islamic calendar.
    public static let saudiArabia = Locale(identifier: "ar_SA")
    /// Hebrew of Israel: right to left.
    public static let israel = Locale(identifier: "he_IL")
    /// Hindi of India: digits grouped by two above the thousands.
    public static let india = Locale(identifier: "hi_IN")
    /// Thai of Thailand: the Buddhist calendar.
    public static let thailand = Locale(identifier: "th_TH")
    /// Turkish of Türkiye: the capital of i has a dot.
    public static let turkey = Locale(identifier: "tr_TR")

    /// All of them.
    public static let all = [
        posix, us, uk, germany, china, japan, brazil, korea, saudiArabia, israel, india, thailand, turkey,
    ]
}

/// The errors that a test threw, by the locale it threw them in.
public struct LocaleFailures: Error, CustomStringConvertible {
    /// The locales that failed, in the order they were tried, and their errors.
    public let failures: [(locale: Locale, error: any Error)]

    /// One line for each locale: `de_DE: expected 1.5, got 1,5`.
    public var description: String {
        failures.map { "\($0.locale.identifier): \($0.error)" }.joined(separator: "\n")
    }
}

extension TestEnvironment {
    /// Runs a test once for each locale, which is the environment's meanwhile; all have their turn, even if one fails.
    ///
    /// - Parameters:
    ///   - locales: Which, in this order.
    ///   - body: Throws where it fails; an expectation that only records doesn't name the locale.
    /// - Throws: ``LocaleFailures`` with all that failed.
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
