import CProcess
import Foundation

/// Starts a program with three descriptors and no other, no signal blocked or ignored, and the environment that it is given.
enum Spawn {
    static func start(
        _ command: ChildProcess.Command, talkingTo descriptor: Int32, complainingTo complaints: Int32
    ) throws(ProcessError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, descriptor, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO)
        cprocess_close_from(&actions, 3)
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var id: pid_t = 0
        let status = withCStrings(command.arguments) { arguments in
            withCStrings(command.environment) {
                posix_spawn(&id, command.path, &actions, &attributes, arguments, $0)
            }
        }
        guard status == 0 else { throw ProcessError("posix_spawn \(command.path)", status) }
        return id
    }
}

/// The texts as a list that C takes, ended by NULL.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
}
