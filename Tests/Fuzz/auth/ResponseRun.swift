/// A run of a server's bytes through a ``ResponseReader``.
enum ResponseRun {
    /// The outcome of reading the bytes that there are.
    enum Outcome: Equatable {
        /// A response, and the number of bytes after it that weren't read.
        case response(HTTPResponse, unread: Int)
        case problem(ResponseReader.Problem)

        static func == (left: Outcome, right: Outcome) -> Bool {
            switch (left, right) {
            case (.response(let left, let leftUnread), .response(let right, let rightUnread)):
                left.status == right.status && left.body == right.body && left.reuse == right.reuse && leftUnread == rightUnread
                    && left.fields.elementsEqual(right.fields) {
                        $0.name.hasBytes(of: $1.name) && $0.value.hasBytes(of: $1.value)
                    }
            case (.problem(let left), .problem(let right)): left == right
            default: false
            }
        }
    }

    /// Returns the outcome of these reads, each in its own memory, and of the end of the connection after them.
    static func outcome(of reads: [ArraySlice<UInt8>]) -> Outcome {
        var reader = ResponseReader(method: "POST", limit: 300)
        var unread = reads.reduce(0) { $0 + $1.count }
        do throws(ResponseReader.Problem) {
            for read in reads {
                let (remaining, result) = withMemory(of: read) { next(&reader, $0) }
                unread -= read.count - remaining
                if let response = try result.get() { return .response(response, unread: unread) }
            }
            return .response(try reader.end(), unread: 0)
        } catch {
            return .problem(error)
        }
    }

    private static func next(
        _ reader: inout ResponseReader, _ bytes: UnsafeRawBufferPointer
    ) -> (remaining: Int, Result<HTTPResponse?, ResponseReader.Problem>) {
        var cursor = ByteCursor(bytes)
        do throws(ResponseReader.Problem) {
            let response = try reader.read(&cursor)
            require(response != nil || cursor.remaining == 0, "all is read while more is to come")
            return (cursor.remaining, .success(response))
        } catch {
            return (cursor.remaining, .failure(error))
        }
    }

    /// Checks that a body is read the same whether its length is announced, it comes in chunks, or it ends with the connection.
    static func checkFramings(of response: HTTPResponse, sizes: [UInt8]) {
        let body = response.body.prefix(300)
        // An interim response has no body, and another response follows it.
        guard response.status >= 200 else { return }
        let isBodiless = response.status == 204 || response.status == 304
        let chunks = pieces(of: body, sizes: sizes).filter { !$0.isEmpty }
        let chunked = chunks.flatMap { Array("\(String($0.count, radix: 16));x=\"y\"\r\n".utf8) + $0 + Array("\r\n".utf8) }
        for (field, sent) in [
            ("Content-Length: \(body.count)", Array(body)), ("X: y", Array(body)),
            ("Transfer-Encoding: chunked", chunked + Array("0\r\nT: t\r\n\r\n".utf8)),
        ] {
            let head = Array("HTTP/1.1 \(response.status) \r\n\(field)\r\n\r\n".utf8)
            guard case .response(let read, let unread) = outcome(of: [(head + sent)[...]]) else {
                return require(false, "\(field) can't be read")
            }
            require(read.status == response.status && read.body == (isBodiless ? [] : Array(body)), "\(field) is read as \(read)")
            require(unread == (isBodiless ? sent.count : 0), "\(unread) bytes are left of \(field)")
        }
    }
}
