// Where URLSession has a module of its own, no file needs to import that as well.
#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif
