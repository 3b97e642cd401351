import Foundation
import PusherChannels

extension TrafficRecorder {
    /// Stops recording and writes the recorded traffic to a file; on a developer's machine only.
    ///
    /// Patterns, matchers and omissions that people wrote into the file stay if they still describe the traffic. Entries that are
    /// no longer in the traffic are removed. An entry that you delete is written again in full. This machine's names and ports
    /// are written as `localhost`, and don't matter on validation.
    ///
    /// - Parameters:
    ///   - path: The file: absolute, or relative to the directory in the environment's `TRAFFIC_DIR`, or, without that, to
    ///     `__Traffic__` beside the test. Directories are created.
    ///   - validator: The validator that will compare the traffic with the file. For ``Validator/exact``, members that the file's
    ///     objects don't have are added.
    ///   - filter: The entries that are written.
    ///   - testFile: The test's file, which the compiler fills in.
    ///   - line: The line of the call, likewise.
    /// - Throws: ``TrafficError`` if the environment has `CI`, which also becomes one of the ``findings``, if nothing was
    ///   recorded that the filter includes, if the file can't be written, or if something in it is invalid.
    public func record(
        to path: String, using validator: TrafficValidator = .subset, filter: TrafficFilter = .any, testFile: String = #filePath,
        line: Int = #line
    ) throws(TrafficError) {
        stop()
        let file = resolve(path, testFile)
        if let ci = environment["CI"], !["", "0", "false"].contains(ci.lowercased()) {
            let message =
                "\(file) is not recorded: this is a CI machine (CI is \(ci)). Record it on your own, commit the file, and call "
                + "validate(against:) where the test now calls record(to:)."
            find(Finding(.error, "\(message) (\(sourceLocation(testFile, line)))"))
            throw TrafficError(kind: .refusedOnCI, message: message)
        }
        let recorded = entries
        let included = recorded.filter { filter.include(request: $0) }
        guard !included.isEmpty else {
            let what =
                recorded.isEmpty
                ? "Give the client, the session or the server to the recorder before anything is sent."
                : "The filter (\(filter)) lets none of the \(recorded.count) entries in."
            throw TrafficError(kind: .nothingRecorded, message: "\(file) is not recorded: there is nothing to write. \(what)")
        }
        guard FileManager.default.fileExists(atPath: file) else {
            return try write(Data(TrafficDocument.text(of: included, headers: headers).utf8), to: file)
        }
        let update = TrafficUpdate(
            file: try TrafficDocument.entries(in: try read(file), of: file, redaction: redaction), traffic: included,
            comparison: Comparison(isExact: validator.isExact, patterns: Patterns()))
        try write(Data(TrafficDocument.text(of: update.members(headers: headers)).utf8), to: file)
    }

    /// Stops recording and writes the recorded traffic to a file, with a filter of your own.
    public func record(
        to path: String, using validator: TrafficValidator = .subset, filter: some RequestFilter, testFile: String = #filePath,
        line: Int = #line
    ) throws(TrafficError) {
        try record(to: path, using: validator, filter: TrafficFilter(filter), testFile: testFile, line: line)
    }

    /// Stops recording and compares the recorded traffic with a file.
    ///
    /// - Parameters:
    ///   - path: The file, found as in `record(to:)`.
    ///   - validator: The validator that decides whether the traffic is what the file says.
    ///   - filter: The entries that are validated.
    ///   - testFile: The test's file, which the compiler fills in.
    /// - Throws: The validator's error, which is a ``TrafficMismatch`` for the library's validators; ``TrafficError`` if the file
    ///   is missing or invalid.
    public func validate(
        against path: String, using validator: some Validator = .subset, filter: TrafficFilter = .any,
        testFile: String = #filePath
    ) throws {
        stop()
        let file = resolve(path, testFile)
        let local = try TrafficDocument.entries(in: try read(file), of: file, redaction: redaction)
        do {
            try validator.validate(recordedRequests: entries.filter { filter.include(request: $0) }, localRequests: local)
        } catch var mismatch as TrafficMismatch {
            mismatch.file = file
            throw mismatch
        }
    }

    /// Stops recording and compares the recorded traffic with a file, with a filter of your own.
    public func validate(
        against path: String, using validator: some Validator = .subset, filter: some RequestFilter,
        testFile: String = #filePath
    ) throws {
        try validate(against: path, using: validator, filter: TrafficFilter(filter), testFile: testFile)
    }

    /// Writes ``exportHAR()`` to a file, found as in `record(to:)`. This also works on CI.
    ///
    /// - Throws: ``TrafficError`` if the file can't be written.
    public func exportHAR(to path: String, testFile: String = #filePath) throws(TrafficError) {
        try write(exportHAR(), to: resolve(path, testFile))
    }

    // MARK: Files

    private func resolve(_ path: String, _ testFile: String) -> String {
        if path.hasPrefix("/") { return path }
        let beside = URL(fileURLWithPath: testFile).deletingLastPathComponent().appendingPathComponent("__Traffic__")
        let directory = environment["TRAFFIC_DIR"].flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) } ?? beside
        return directory.appendingPathComponent(path).path
    }

    private func read(_ file: String) throws(TrafficError) -> String {
        guard FileManager.default.fileExists(atPath: file) else {
            let message =
                "there is no \(file). Call record(to:) in place of validate(against:) once, on your own machine, look at what it "
                + "wrote, and commit it."
            throw TrafficError(kind: .missingFile, message: message)
        }
        guard let data = FileManager.default.contents(atPath: file), let text = String(data: data, encoding: .utf8) else {
            throw TrafficError(kind: .unreadableFile, message: "\(file) can't be read, or isn't UTF-8")
        }
        return text
    }

    private func write(_ data: Data, to file: String) throws(TrafficError) {
        // A link stays one, and no file takes the place of what is none, such as a device.
        let url = URL(fileURLWithPath: file).resolvingSymlinksInPath()
        let isReplaced = FileManager.default.isRegular(url) || !FileManager.default.fileExists(atPath: url.path)
        do {
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: url, options: isReplaced ? .atomic : [])
        } catch {
            throw TrafficError(kind: .unwritableFile, message: "\(file) can't be written: \(error.localizedDescription)")
        }
    }
}

extension FileManager {
    /// Indicates whether there is a file: no folder, device or pipe.
    func isRegular(_ url: URL) -> Bool {
        (try? attributesOfItem(atPath: url.path))?[.type] as? FileAttributeType == .typeRegular
    }
}
