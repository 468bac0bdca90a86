import ArgumentParser
import Bookplate

/// A setting as a person names it: of the program, kept in the settings file, or of the library, kept in it.
enum NamedSetting: Equatable {
    case program(Setting)
    case library(LibrarySetting)

    var name: String {
        switch self {
        case .program(let setting): setting.rawValue
        case .library(let setting): setting.rawValue
        }
    }
}

extension NamedSetting: ExpressibleByArgument {
    init?(argument: String) {
        if let setting = Setting(rawValue: argument) {
            self = .program(setting)
        } else if let setting = LibrarySetting(rawValue: argument) {
            self = .library(setting)
        } else {
            return nil
        }
    }

    static var allValueStrings: [String] { Setting.allCases.map(\.rawValue) + LibrarySetting.allCases.map(\.rawValue) }
}
