/// The version of this library, as the `User-Agent` of its requests and the `version` of its connections state it.
package let libraryVersion = "0.1.0"
