/// The requests of official server libraries to the HTTP API, byte for byte except for the line ends, which are CR LF in the
/// head.
///
/// The app is `1` with the key `local-key` and the secret `local-secret`, and the clock is set to 1700000000. The requests of
/// Python's library (3.3.4 with requests 2.34.2) were recorded from a socket. Those of Node (5.2.0 with node-fetch 2) and Ruby
/// (2.0.3 with httpclient 2.8.3) were written down from their sources. Python sends its signature among the parameters, and the
/// MD5 of an empty body. Node sends parameters unescaped, in the order in which they are signed. Ruby sends a call's own
/// parameters first, escaped.
///
/// A signature was computed again by hand, from the text between the first `?` and ` HTTP`, without the signature and sorted:
///
///     python3 -c 'import hmac,sys; print(hmac.new(b"local-secret", sys.stdin.read().encode(), "sha256").hexdigest())'
///
/// over the method, the path and those parameters, unescaped and separated by line feeds.
enum ServerLibraryRequests {
    typealias Requests = [(call: String, request: String)]

    /// - Parameters:
    ///   - head: The lines of every head. Those that begin with `+` are only in requests with a body.
    ///   - calls: Two lines for each request: the call with the first line of the head, and the body.
    private static func requests(head: String, _ calls: String) -> Requests {
        let lines = calls.split(separator: "\n", omittingEmptySubsequences: false)
        return stride(from: 0, to: lines.count, by: 2).map { index in
            let (call, body) = (lines[index].split(separator: " ", maxSplits: 1), lines[index + 1])
            let fields = head.split(separator: "\n").compactMap { line -> String? in
                guard line.hasPrefix("+ ") else { return String(line) }
                return body.isEmpty ? nil : String(line.dropFirst(2)).replacing("<length>", with: "\(body.utf8.count)")
            }
            return (String(call[0]), (["\(call[1]) HTTP/1.1"] + fields + ["", String(body)]).joined(separator: "\n"))
        }
    }

    /// Python's requests, without the one that terminates a user's connections, which goes to a path without the app.
    static let python = requests(
        head: """
            Host: 127.0.0.1:6001
            User-Agent: python-requests/2.34.2
            Accept-Encoding: gzip, deflate
            Accept: */*
            Connection: keep-alive
            X-Pusher-Library: pusher-http-python 3.3.4
            + Content-Type: application/json
            + Content-Length: <length>
            """,
        #"""
        trigger POST /apps/1/events?auth_key=local-key&auth_signature=a5599b63fb1414f10b84fb7b9a0e9761b5effea7efebb361473b60047600e703&auth_timestamp=1700000000&auth_version=1.0&body_md5=ffc9ade1c6566d44a0e532c25b4e4da9
        {"name": "headline", "channels": ["news", "prices"], "data": "{\"text\": \"h\u00e9llo & good-bye\"}", "socket_id": "1.2"}
        batch POST /apps/1/batch_events?auth_key=local-key&auth_signature=c88220f4a15880ce97194d44242057f2c6683d901dca3a92f794cf1039a0f068&auth_timestamp=1700000000&auth_version=1.0&body_md5=d69fcfd477268e4cc18725f63212e1dc
        {"batch": [{"channel": "news", "name": "a", "data": "{\"x\": 1}"}, {"channel": "prices", "name": "b", "data": "two", "socket_id": "1.2"}]}
        channels GET /apps/1/channels?auth_key=local-key&auth_signature=f9297f24eaff36021549efeeca246f7edc47da32cd0dbdf38dc771199dc6abdb&auth_timestamp=1700000000&auth_version=1.0&body_md5=d41d8cd98f00b204e9800998ecf8427e&filter_by_prefix=presence-&info=user_count

        channel GET /apps/1/channels/presence-room?auth_key=local-key&auth_signature=51a8c32b4b17b40c0bfcc262b4135a067d0849ba7f0bd2dd0fe9a354450154e7&auth_timestamp=1700000000&auth_version=1.0&body_md5=d41d8cd98f00b204e9800998ecf8427e&info=user_count,subscription_count

        users GET /apps/1/channels/presence-room/users?auth_key=local-key&auth_signature=edb57585001b08ecd2ddfa72f7d63f729c283410a8492538c0fec9996b062f3a&auth_timestamp=1700000000&auth_version=1.0&body_md5=d41d8cd98f00b204e9800998ecf8427e

        user POST /apps/1/events?auth_key=local-key&auth_signature=e8c95eb8620e613b64990dad00b50424bf36cdad2e01a7c6c477af653c364749&auth_timestamp=1700000000&auth_version=1.0&body_md5=ddc24a8ef82b89894e6418082e032950
        {"name": "hello", "channels": ["#server-to-user-ann"], "data": "{\"x\": 1}"}
        """#)

    /// Node's requests.
    static let node = requests(
        head: """
            x-pusher-library: pusher-http-node 5.2.0
            + content-type: application/json
            Accept: */*
            + Content-Length: <length>
            User-Agent: node-fetch/1.0 (+https://github.com/bitinn/node-fetch)
            Accept-Encoding: gzip,deflate
            Connection: close
            Host: 127.0.0.1:6001
            """,
        #"""
        trigger POST /apps/1/events?auth_key=local-key&auth_timestamp=1700000000&auth_version=1.0&body_md5=86569c49e672d91b7def08752cec9ca9&auth_signature=762ea77acc5ff3990386a3a7de216344f9f12c76e2668471154781f835cf7bd2
        {"name":"headline","data":"{\"text\":\"héllo & good-bye\"}","channels":["news","prices"],"socket_id":"1.2"}
        batch POST /apps/1/batch_events?auth_key=local-key&auth_timestamp=1700000000&auth_version=1.0&body_md5=0990ef359cec307f9302cff58d287634&auth_signature=ec6de7296440c442e2055ba9ce1dd7e64de441eeed6d66b83710ebb18be60797
        {"batch":[{"channel":"news","name":"a","data":"{\"x\":1}"},{"channel":"prices","name":"b","data":"two","socket_id":"1.2"}]}
        channels GET /apps/1/channels?auth_key=local-key&auth_timestamp=1700000000&auth_version=1.0&filter_by_prefix=presence-&info=user_count&auth_signature=46e3894126beb5e39f5676213e6ea73561a067681d56964e3adcbbdebd0fd11d

        channel GET /apps/1/channels/presence-room?auth_key=local-key&auth_timestamp=1700000000&auth_version=1.0&info=user_count,subscription_count&auth_signature=332d92f3ed1c9e22e55f38f8069a4b59bff916a1b1805743d8d2a4e7a145b0a7

        users GET /apps/1/channels/presence-room/users?auth_key=local-key&auth_timestamp=1700000000&auth_version=1.0&auth_signature=48a6c8ef40cf8668cb9d448d302dd5faedecc7ad5af4ef5d99fa9fdd9e3970f0

        user POST /apps/1/events?auth_key=local-key&auth_timestamp=1700000000&auth_version=1.0&body_md5=c366015133cc204ff47107bd4131ccb1&auth_signature=6a666716a234b88a94262430494d5155f7d4a1e7a2c8d9a2c6e3e8ed6f2e841c
        {"name":"hello","data":"{\"x\":1}","channels":["#server-to-user-ann"]}
        terminate POST /apps/1/users/ann/terminate_connections?auth_key=local-key&auth_timestamp=1700000000&auth_version=1.0&body_md5=99914b932bd37a50b983c5e7c90ae93b&auth_signature=8e1b74b93be9ffd042928ca911d5c1aa6992e635d9c126cecd6601897b2e1886
        {}
        """#)

    /// Ruby's requests. Its library has no call for users.
    static let ruby = requests(
        head: """
            Content-Type: application/json
            X-Pusher-Library: pusher-http-ruby 2.0.3
            User-Agent: HTTPClient/1.0 (2.8.3, ruby 3.1.2 (2022-04-12))
            Accept: */*
            Date: Tue, 14 Nov 2023 22:13:20 GMT
            + Content-Length: <length>
            Host: 127.0.0.1:6001
            """,
        #"""
        trigger POST /apps/1/events?body_md5=a4a39825590e505031741a16a6375a5b&auth_version=1.0&auth_key=local-key&auth_timestamp=1700000000&auth_signature=b4ce1b5bb3186c912006fc6788cd075e15809a66c075222c24741ed80f1476ca
        {"socket_id":"1.2","name":"headline","channels":["news","prices"],"data":"{\"text\":\"héllo & good-bye\"}"}
        batch POST /apps/1/batch_events?body_md5=0990ef359cec307f9302cff58d287634&auth_version=1.0&auth_key=local-key&auth_timestamp=1700000000&auth_signature=ec6de7296440c442e2055ba9ce1dd7e64de441eeed6d66b83710ebb18be60797
        {"batch":[{"channel":"news","name":"a","data":"{\"x\":1}"},{"channel":"prices","name":"b","data":"two","socket_id":"1.2"}]}
        channels GET /apps/1/channels?filter_by_prefix=presence-&info=user_count&auth_version=1.0&auth_key=local-key&auth_timestamp=1700000000&auth_signature=46e3894126beb5e39f5676213e6ea73561a067681d56964e3adcbbdebd0fd11d

        channel GET /apps/1/channels/presence-room?info=user_count%2Csubscription_count&auth_version=1.0&auth_key=local-key&auth_timestamp=1700000000&auth_signature=332d92f3ed1c9e22e55f38f8069a4b59bff916a1b1805743d8d2a4e7a145b0a7

        users GET /apps/1/channels/presence-room/users?auth_version=1.0&auth_key=local-key&auth_timestamp=1700000000&auth_signature=48a6c8ef40cf8668cb9d448d302dd5faedecc7ad5af4ef5d99fa9fdd9e3970f0

        """#)
}
