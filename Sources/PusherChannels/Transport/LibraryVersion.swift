/// The SDK's version, as servers see it in the connection's address and the User-Agent.
package let libraryVersion = "0.1.0"
