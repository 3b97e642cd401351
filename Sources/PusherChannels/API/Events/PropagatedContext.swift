#if Tracing
import Tracing

/// The context of a publisher in the data of an event, so that the event's handler can link to what caused it.
///
/// Nothing puts one there by itself. Give the data a member for it, which becomes a JSON object of strings, such as
/// `{"traceparent":"00-…-01"}`: what OpenTelemetry's propagators of other languages fill and read, too.
///
/// ```swift
/// struct Order: Codable {
///     let number: Int
///     var context: PropagatedContext?
/// }
/// ```
///
/// The publisher sends `Order(number: 7, context: PropagatedContext())`. A handler, which may run much later and beside others, takes
/// the context for a link rather than for a parent:
///
/// ```swift
/// orders.bind(eventName: "placed") { event in
///     guard let order = try? event.decode(Order.self) else { return }
///     withSpan("deliver", context: .topLevel, ofKind: .consumer) { span in
///         if let cause = order.context?.serviceContext() { span.addLink(SpanLink(context: cause, attributes: [:])) }
///     }
/// }
/// ```
///
/// Anybody who may send an event can put anything there: it says where an event claims to come from.
public struct PropagatedContext: Codable, Equatable, Sendable {
    private var fields: [String: String] = [:]

    /// Takes what an instrument would write into a request.
    ///
    /// - Parameters:
    ///   - context: The context to take along; by default the one of the calling task.
    ///   - instrument: The instrument that writes it; by default that of `InstrumentationSystem`.
    public init(
        _ context: ServiceContext = .current ?? .topLevel, instrument: any Instrument = InstrumentationSystem.instrument
    ) {
        instrument.inject(context, into: &fields, using: FieldInjector())
    }

    /// Reads a JSON object of strings; anything else is taken for an empty one, as an event is no worse without a context.
    ///
    /// - Parameter decoder: The decoder of the event's data.
    public init(from decoder: any Decoder) {
        fields = (try? [String: String](from: decoder)) ?? [:]
    }

    /// Writes a JSON object of strings.
    ///
    /// - Parameter encoder: The encoder of the event's data.
    /// - Throws: The encoder's errors.
    public func encode(to encoder: any Encoder) throws {
        try fields.encode(to: encoder)
    }

    /// The context, as an instrument reads it.
    ///
    /// - Parameter instrument: The instrument that reads it; by default that of `InstrumentationSystem`.
    /// - Returns: The publisher's context; nil if the instrument found none.
    public func serviceContext(instrument: any Instrument = InstrumentationSystem.instrument) -> ServiceContext? {
        var context = ServiceContext.topLevel
        instrument.extract(fields, into: &context, using: FieldExtractor())
        return context.isEmpty ? nil : context
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout [String: String]) {
        fields[key] = value
    }
}

private struct FieldExtractor: Extractor {
    func extract(key: String, from fields: [String: String]) -> String? {
        fields[key]
    }
}
#endif
