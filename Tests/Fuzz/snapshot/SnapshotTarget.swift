/// Checks traffic and its files: the input is a file, traffic that is written to one, or the text around a secret that must not
/// get there.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var input = FuzzInput(data, size)
    let (what, name) = (input.choice(), input.choice())
    let text = String(decoding: input.rest, as: UTF8.self)
    switch what {
    case PlantedSecret.places: SnapshotFile.check(text)
    case PlantedSecret.places + 1: checkRecording(of: text)
    default: PlantedSecret(what % PlantedSecret.places, name: name, around: text).check()
    }
    return 0
}

/// A text that is read as a file of traffic.
enum SnapshotFile {
    private static let name = "traffic.json"

    static func read(_ text: String) -> Result<[TrafficEntry], TrafficError> {
        do throws(TrafficError) {
            return .success(try TrafficDocument.entries(in: text, of: name, redaction: .standard))
        } catch {
            return .failure(error)
        }
    }

    /// Checks that the text is read and keeps its meaning when it is written again, or that the error names the file and the
    /// fault.
    static func check(_ text: String) {
        switch read(text) {
        case .success(let entries):
            let again = JSONValue.array(entries.map { .object($0.members) })
            // JSON has no text for a number beyond `Double`.
            guard JSONValue(ifJSON: again.text) == again else { return }
            require(read(again.prettyText) == .success(entries), "\(again.text) means something else the second time")
        case .failure(let error):
            require(error.message.hasPrefix(name) && "\(error)" == error.message, "an error names the file: \(error)")
            switch error.kind {
            case .unreadableFile: require(JSONValue(ifJSON: text) == nil, "\(error), but it is JSON")
            case .malformedFile, .badPattern: require(JSONValue(ifJSON: text) != nil, "\(error), but it isn't JSON")
            case .refusedOnCI, .nothingRecorded, .missingFile, .unwritableFile:
                require(false, "\(error) is nothing that a text can be")
            }
        }
    }
}

/// Checks that traffic matches the file that it was written to, with every way of comparing.
func checkRecording(of text: String) {
    let recorder = Recording.recorder()
    recorder.record(Recording.request(text))
    recorder.record(text, isSent: true, on: Recording.connection)
    recorder.record(#"{"event":"e","channel":"c","data":\#(text.quotedJSON)}"#, isSent: false, on: Recording.connection)
    let file = Recording.file(of: recorder)
    switch SnapshotFile.read(file) {
    case .failure(let error): require(false, "\(error) in what was recorded: \(file)")
    case .success(let entries):
        for validator in [TrafficValidator.exact, .subset, .exact.ordered] {
            do {
                try validator.validate(recordedRequests: recorder.entries, localRequests: entries)
            } catch {
                require(false, "\(error) in what was recorded: \(file)")
            }
        }
    }
}

/// Discards findings, because no harness asks a recorder for them here.
extension TrafficRecorder {
    func find(_ finding: Finding) {}
}
