import CSQLite

/// The service's tables. An actor, so that one task at a time uses the connection.
actor Database {
    struct Failure: Error { let reason: String }

    private let connection: OpaquePointer?

    /// - Parameter pages: The number of pages of 4 KiB that the file may grow to.
    init(path: String, pages: Int) throws {
        var connection: OpaquePointer?
        let setUp = """
            PRAGMA busy_timeout = 5000; PRAGMA max_page_count = \(pages);
            CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item, address, published DEFAULT 0);
            CREATE INDEX IF NOT EXISTS unpublished ON orders (id) WHERE NOT published;
            CREATE TABLE IF NOT EXISTS packing (id INTEGER PRIMARY KEY, item);
            """
        guard sqlite3_open(path, &connection) == SQLITE_OK, sqlite3_exec(connection, setUp, nil, nil, nil) == SQLITE_OK else {
            throw Failure(reason: "\(path): \(String(cString: sqlite3_errmsg(connection)))")
        }
        self.connection = connection
    }

    /// Runs a statement with these texts in place of its question marks, and returns the rows of its result.
    @discardableResult
    func run(_ sql: String, _ values: String...) throws -> [[String]] {
        var (statement, rows): (OpaquePointer?, [[String]]) = (nil, [])
        sqlite3_prepare_v2(connection, sql, -1, &statement, nil)
        defer { sqlite3_finalize(statement) }
        for (index, value) in values.enumerated() {
            // -1 has SQLite copy the text.
            sqlite3_bind_text(statement, Int32(index + 1), value, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        }
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append((0..<sqlite3_column_count(statement)).map { String(cString: sqlite3_column_text(statement, $0)) })
        }
        let status = sqlite3_errcode(connection)
        guard status == SQLITE_DONE else { throw Failure(reason: String(cString: sqlite3_errstr(status))) }
        return rows
    }
}
