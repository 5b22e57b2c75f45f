/** Expected failures of the processing engine; the messages are the documented texts. */

export class TriggerSpecificationInvalid extends Error {
  override readonly name = 'TriggerSpecificationInvalid';
  readonly kind = 'trigger_specification_invalid';
  constructor(at: { specification: string; context: string | undefined }) {
    const context = at.context === undefined ? '' : `: ${at.context}`;
    super(`failed to parse trigger from ${at.specification}${context}`);
  }
}

/** The setting `restrict_plugin_triggers_to` does not name this type of plugin. */
export class PluginTypeRefused extends Error {
  override readonly name = 'PluginTypeRefused';
  readonly kind = 'plugin_type_refused';
  constructor(at: { type: string }) {
    super(`invalid request: server is configured to reject ${at.type} plugin triggers`);
  }
}

/** Nothing of the server's own database makes a plugin run. */
export class InternalDatabaseUntriggered extends Error {
  override readonly name = 'InternalDatabaseUntriggered';
  readonly kind = 'internal_database_untriggered';
  constructor() {
    super('cannot modify internal db');
  }
}

export class TriggerNotFound extends Error {
  override readonly name = 'TriggerNotFound';
  readonly kind = 'trigger_not_found';
  constructor(at: { trigger: string }) {
    super(`the requested resource was not found: ${at.trigger}`);
  }
}

/** A file operation names a plugin by its trigger, and there is none. */
export class PluginOfTriggerNotFound extends Error {
  override readonly name = 'PluginOfTriggerNotFound';
  readonly kind = 'plugin_of_trigger_not_found';
  constructor(at: { trigger: string }) {
    super(`Processing engine error: plugin error: Plugin not found: ${at.trigger}`);
  }
}

export class TriggerIsRunning extends Error {
  override readonly name = 'TriggerIsRunning';
  readonly kind = 'trigger_is_running';
  constructor(at: { trigger: string }) {
    super(`Cannot delete running plugin ${at.trigger}. Disable it first or use --force.`);
  }
}

/** Below the plugin folder there is nothing of this name. */
export class PluginFileMissing extends Error {
  override readonly name = 'PluginFileMissing';
  readonly kind = 'plugin_file_missing';
  constructor(at: { path: string }) {
    super(`Plugin error: reading plugin file: Plugin not found: ${at.path}`);
  }
}

export class PluginFolderIncomplete extends Error {
  override readonly name = 'PluginFolderIncomplete';
  readonly kind = 'plugin_folder_incomplete';
  constructor(at: { path: string }) {
    super(
      `Plugin error: reading plugin file: Multi-file plugin directory must contain __init__.py: ${at.path}`,
    );
  }
}

export class PluginPathEscapes extends Error {
  override readonly name = 'PluginPathEscapes';
  readonly kind = 'plugin_path_escapes';
  constructor(at: { path: string }) {
    super(
      `Plugin error: Path traversal detected: plugin filename '${at.path}' attempts to access files outside the plugin directory`,
    );
  }
}

/** The setting `plugin_dir` was not given. */
export class NoPluginFolder extends Error {
  override readonly name = 'NoPluginFolder';
  readonly kind = 'no_plugin_folder';
  constructor(at: { for: 'trigger' | 'files' }) {
    super(
      at.for === 'trigger'
        ? 'Plugin error: Node not configured with plugin directory'
        : 'Processing engine error: plugin error: No plugin directory configured',
    );
  }
}

export class PluginFetchFailed extends Error {
  override readonly name = 'PluginFetchFailed';
  readonly kind = 'plugin_fetch_failed';
  constructor(why: string, cause?: unknown) {
    super(`Plugin error: error fetching plugin from repository: ${why}`, { cause });
  }
}

/** The setting `plugin_dir_only`. */
export class PluginFolderLocked extends Error {
  override readonly name = 'PluginFolderLocked';
  readonly kind = 'plugin_folder_locked';
  constructor() {
    super(
      'plugin installation is disabled; plugins must already exist in the configured plugin directory',
    );
  }
}

/** The path or content of an uploaded file cannot be taken. */
export class PluginFileRefused extends Error {
  override readonly name = 'PluginFileRefused';
  readonly kind = 'plugin_file_refused';
}

export class PackageInstallationDisabled extends Error {
  override readonly name = 'PackageInstallationDisabled';
  readonly kind = 'package_installation_disabled';
  constructor() {
    super(
      'Package installation has been disabled. Contact your administrator for more information.',
    );
  }
}

export class PackageInstallationFailed extends Error {
  override readonly name = 'PackageInstallationFailed';
  readonly kind = 'package_installation_failed';
  /** Of the installer; `undefined` when it did not run. */
  readonly exitCode: number | undefined;
  constructor(at: { why: string; exitCode?: number | undefined }) {
    super(`Processing engine error: error installing python packages: ${at.why}`);
    this.exitCode = at.exitCode;
  }
}

/** An entry of a list of packages is no package of the index: it is empty, an option, an address or a path. */
export class PackageNameInvalid extends Error {
  override readonly name = 'PackageNameInvalid';
  readonly kind = 'package_name_invalid';
  constructor(entry: string) {
    super(
      `invalid package name: '${entry}'; give a name, with extras and versions where needed, as in 'x[extra]>=1'; files and addresses go into a requirements file in the plugin directory`,
    );
  }
}

export class RequirementsMissing extends Error {
  override readonly name = 'RequirementsMissing';
  readonly kind = 'requirements_missing';
  constructor(at: { path: string }) {
    super(`requirements file not found: ${at.path}`);
  }
}

/** What a file of requirements holds cannot be taken; the message says nothing of it but the number of the line. */
export class RequirementsRefused extends Error {
  override readonly name = 'RequirementsRefused';
  readonly kind = 'requirements_refused';
}

/** No interpreter, or one that is too old. */
export class PythonUnavailable extends Error {
  override readonly name = 'PythonUnavailable';
  readonly kind = 'python_unavailable';
  constructor(why: string) {
    super(`Python plugins not enabled on this server: ${why}`);
  }
}

/** The cron text of a dry run. */
export class CronInvalid extends Error {
  override readonly name = 'CronInvalid';
  readonly kind = 'cron_invalid';
}

export type ProcessingError =
  | TriggerSpecificationInvalid
  | PluginTypeRefused
  | InternalDatabaseUntriggered
  | TriggerNotFound
  | PluginOfTriggerNotFound
  | TriggerIsRunning
  | PluginFileMissing
  | PluginFolderIncomplete
  | PluginPathEscapes
  | NoPluginFolder
  | PluginFetchFailed
  | PluginFolderLocked
  | PluginFileRefused
  | PackageInstallationDisabled
  | PackageInstallationFailed
  | PackageNameInvalid
  | RequirementsMissing
  | RequirementsRefused
  | PythonUnavailable
  | CronInvalid;
