import Glibc

/// Tells network file systems from local ones, because WAL needs the shared memory and locks of one kernel
/// (https://www.sqlite.org/wal.html, "All processes using a database must be on the same host computer").
enum FileSystemKind {
    /// The types refused, as mountinfo names them. statfs(2) would give numbers, but one and the same for every FUSE file
    /// system, the local ones (ntfs-3g, exfat) too.
    ///
    /// 9p and virtiofs are let through although they come from another kernel: they are the ordinary disk of many containers
    /// and virtual machines, where one kernel alone uses the file.
    static let refused: Set<String> = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "coda", "lustre", "gfs2", "ocfs2",
        "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.glusterfs", "fuse.davfs", "fuse.davfs2", "fuse.curlftpfs",
        "fuse.gvfsd-fuse", "fuse.ceph", "fuse.ceph-fuse", "fuse.moosefs", "fuse.juicefs", "fuse.gcsfuse",
    ]

    /// The network file system that `folder` lies on, `nil` for a local one and where it cannot be told (no /proc).
    static func network(at folder: String) throws(LibraryError) -> String? {
        var facts = stat()
        guard stat(folder, &facts) == 0 else { throw LibraryError(errno: errno, path: folder) }
        guard let bytes = try? readFile("/proc/self/mountinfo", limit: 1 << 20) else { return nil }
        let type = type(ofDevice: facts.st_dev, in: String(decoding: bytes, as: UTF8.self))
        return type.flatMap { refused.contains($0) ? $0 : nil }
    }

    /// The type that mountinfo gives for a device. Source: proc_pid_mountinfo(5): the third field is the device, the type
    /// follows the separator " - ".
    static func type(ofDevice device: UInt, in mountinfo: String) -> String? {
        // makedev(3): twelve and twenty bits, interleaved.
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        for line in mountinfo.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2, fields[2] == "\(major):\(minor)", let dash = fields.firstIndex(of: "-"),
                dash + 1 < fields.count
            else { continue }
            return String(fields[dash + 1])
        }
        return nil
    }
}
