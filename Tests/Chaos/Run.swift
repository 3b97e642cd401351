import ArgumentParser
import Foundation
import PusherChannels

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Name the scenarios.")

    func run() {
        for scenario in Scenario.all { print(scenario.name) }
    }
}

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make scenarios happen, and compare what comes of them with the page that promises it.",
        discussion: "Without names all of them, plain and over TLS.")

    @Option(help: "How often each is run, each way.") var rounds = 1
    @Option(help: "How many are run at a time.") var jobs = 1
    @Option(help: "The page: a table with a row for each, what the client reports and how long it may take.") var page: String
    @Option(help: "The library that is made of world.c.") var world: String
    @Flag(help: "Each over TLS where it can be, and over the other way not.") var oneWay = false
    @Argument(help: "Parts of the names of those to run.") var names: [String] = []

    private struct Assignment {
        let scenario: Scenario
        let way: Site.Way
    }

    func validate() throws {
        guard rounds > 0, jobs > 0 else { throw ValidationError("there is nothing to run") }
        for name in names where !Scenario.all.contains(where: { $0.name.contains(name) }) {
            throw ValidationError("no scenario is called \(name); see list")
        }
    }

    func run() async throws {
        let page = try Page(at: page)
        var problems = page.problems(with: Scenario.all)
        let scenarios = Scenario.all.filter { scenario in names.isEmpty || names.contains { scenario.name.contains($0) } }
        var reports: [String: Report] = [:]
        var waiting = (0..<rounds).flatMap { _ in
            scenarios.flatMap { scenario in
                (oneWay ? scenario.ways.suffix(1) : scenario.ways[...]).map { Assignment(scenario: scenario, way: $0) }
            }
        }[...]
        await withTaskGroup { group in
            for _ in 0..<jobs { startNext(of: &waiting, in: &group) }
            for await (next, result) in group {
                reports[next.scenario.name, default: Report()].add(result, way: next.way)
                startNext(of: &waiting, in: &group)
            }
        }
        for scenario in scenarios {
            guard let report = reports[scenario.name] else { continue }
            if let reason = report.skipped {
                print("SKIPPED \(scenario.name): \(reason)")
                continue
            }
            print(report.row(of: scenario))
            problems += report.problems.map { "\(scenario.name): \($0)" }
            problems += page.problems(with: report, of: scenario)
        }
        for problem in problems { print("PROBLEM \(problem)") }
        if !problems.isEmpty { throw ExitCode.failure }
        print("\(reports.count) scenarios, \(reports.values.map(\.count).reduce(0, +)) trials: as the page says")
    }

    private func startNext(
        of waiting: inout ArraySlice<Assignment>, in group: inout TaskGroup<(Assignment, Result<Trial.Result, any Error>)>
    ) {
        guard let next = waiting.popFirst() else { return }
        group.addTask { [library = world] in
            do {
                return (next, .success(try await Trial(scenario: next.scenario, way: next.way, library: library).run()))
            } catch {
                return (next, .failure(error))
            }
        }
    }
}
