import Foundation
import TestSupport
import Testing

struct CoderMockTests {
    private struct User: Codable, Equatable {
        var firstName: String
    }

    private struct Trouble: Error {}

    private let environment = TestEnvironment()

    // MARK: Decoding

    @Test func `The decoder mock returns or throws what the test says, whatever the input`() throws {
        environment.decoderMock.nextDecode = { data in .success(User(firstName: "\(data.count) bytes")) }
        let decoder = environment.decoder()
        #expect(try decoder.decode(User.self, from: Data("abc".utf8)) == User(firstName: "3 bytes"))
        #expect(environment.decoderMock.inputs == [Data("abc".utf8)])
        environment.decoderMock.nextDecode = { _ in .failure(Trouble()) }
        #expect(throws: Trouble.self) { try decoder.decode(User.self, from: Data()) }
    }

    @Test func `A decoder mock without a result throws that the data is corrupted`() throws {
        let error = #expect(throws: DecodingError.self) { try environment.decoder().decode(User.self, from: Data()) }
        guard case .dataCorrupted(let context) = try #require(error) else { throw Trouble() }
        #expect(context.debugDescription.contains("nextDecode"))
    }

    @Test func `A decoder mock's value of another type throws a mismatch that names both types`() throws {
        environment.decoderMock.nextDecode = { _ in .success("text") }
        let error = #expect(throws: DecodingError.self) { try environment.decoder().decode(User.self, from: Data()) }
        guard case .typeMismatch(let type, let context) = try #require(error) else { throw Trouble() }
        #expect(type is User.Type)
        #expect(context.debugDescription == "wanted User, but the decoder gave String")
    }

    @Test func `An unimplemented coder throws and records an issue`() {
        environment.decoderMock.unimplemented()
        environment.encoderMock.unimplemented()
        let error = #expect(throws: Unimplemented.self) { try environment.decoder().decode(User.self, from: Data()) }
        #expect(error?.description == "decoder is unimplemented")
        #expect(throws: Unimplemented.self) { try environment.encoder().encode(1) }
        #expect(environment.issues == ["decoder", "encoder"].map { "\($0) was used, but is unimplemented" })
    }

    // MARK: Encoding

    @Test func `The encoder mock returns or throws what the test says, and notes the values`() throws {
        environment.encoderMock.nextEncode = { value in .success(Data("\(value)".utf8)) }
        #expect(try environment.encoder().encode([1, 2]) == Data("[1, 2]".utf8))
        #expect(environment.encoderMock.values == ["[1, 2]"])
        environment.encoderMock.nextEncode = { _ in .failure(Trouble()) }
        #expect(throws: Trouble.self) { try environment.encoder().encode(1) }
    }

    @Test func `An encoder mock without a result throws that the value is invalid`() throws {
        let error = #expect(throws: EncodingError.self) { try environment.encoder().encode(7) }
        guard case .invalidValue(let value, let context) = try #require(error) else { throw Trouble() }
        #expect(value as? Int == 7)
        #expect(context.debugDescription.contains("nextEncode"))
    }
}
