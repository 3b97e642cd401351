#if Tracing
import Tracing

/// The tracing context of a publisher in the data of an event, which lets the event's handler link to its cause.
///
/// The context isn't added automatically. Give the data a member for it, which becomes a JSON object of strings, such as
/// `{"traceparent":"00-…-01"}`. OpenTelemetry's propagators in other languages write and read the same format.
///
/// ```swift
/// struct Order: Codable {
///     let number: Int
///     var context: PropagatedContext?
/// }
/// ```
///
/// The publisher sends `Order(number: 7, context: PropagatedContext())`. A handler may run much later and alongside others, so it
/// uses the context as a link rather than as a parent:
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
/// Anyone who may send an event can put anything there: the context is only a claim about where an event comes from.
public struct PropagatedContext: Codable, Equatable, Sendable {
    private var fields: [String: String] = [:]

    /// Creates a context from the fields that an instrument would write into a request.
    ///
    /// - Parameters:
    ///   - context: The context to propagate; by default that of the calling task.
    ///   - instrument: The instrument that writes it; by default that of `InstrumentationSystem`.
    public init(
        _ context: ServiceContext = .current ?? .topLevel, instrument: any Instrument = InstrumentationSystem.instrument
    ) {
        instrument.inject(context, into: &fields, using: FieldInjector())
    }

    /// Decodes a JSON object of strings. Anything else counts as an empty object, because an event is still usable without a
    /// context.
    ///
    /// - Parameter decoder: The decoder of the event's data.
    public init(from decoder: any Decoder) {
        fields = (try? [String: String](from: decoder)) ?? [:]
    }

    /// Encodes the context as a JSON object of strings.
    ///
    /// - Parameter encoder: The encoder of the event's data.
    /// - Throws: The encoder's errors.
    public func encode(to encoder: any Encoder) throws {
        try fields.encode(to: encoder)
    }

    /// Returns the context, as read by an instrument.
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
