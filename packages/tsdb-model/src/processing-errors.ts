import { asGiven } from '@plinth/kernel';

/**
 * Expected failures of the processing engine, as part of this service's catalog, with the
 * documented messages.
 */
export const PROCESSING_TEXTS = {
  trigger_specification_invalid: (details: {
    readonly specification: string;
    readonly context: string | undefined;
  }) =>
    `failed to parse trigger from ${details.specification}${details.context === undefined ? '' : `: ${details.context}`}`,
  /** The setting `restrict_plugin_triggers_to` excludes this type of plugin. */
  plugin_type_refused: (details: { readonly type: string }) =>
    `invalid request: server is configured to reject ${details.type} plugin triggers`,
  /** The server's own database cannot have triggers. */
  internal_database_untriggered: 'cannot modify internal db',
  trigger_not_found: (details: { readonly trigger: string }) =>
    `the requested resource was not found: ${details.trigger}`,
  /** A file operation names a plugin by a trigger that does not exist. */
  plugin_of_trigger_not_found: (details: { readonly trigger: string }) =>
    `Processing engine error: plugin error: Plugin not found: ${details.trigger}`,
  trigger_is_running: (details: { readonly trigger: string }) =>
    `Cannot delete running plugin ${details.trigger}. Disable it first or use --force.`,
  plugin_file_missing: (details: { readonly path: string }) =>
    `Plugin error: reading plugin file: Plugin not found: ${details.path}`,
  plugin_folder_incomplete: (details: { readonly path: string }) =>
    `Plugin error: reading plugin file: Multi-file plugin directory must contain __init__.py: ${details.path}`,
  plugin_path_escapes: (details: { readonly path: string }) =>
    `Plugin error: Path traversal detected: plugin filename '${details.path}' attempts to access files outside the plugin directory`,
  /** The setting `plugin_dir` is missing. */
  no_plugin_folder: (details: { readonly for: 'trigger' | 'files' }) =>
    details.for === 'trigger'
      ? 'Plugin error: Node not configured with plugin directory: start the server with --plugin-dir'
      : 'Processing engine error: plugin error: No plugin directory configured: start the server with --plugin-dir',
  /** The plugin does not compile, or lacks the function that the trigger calls. */
  plugin_invalid: (why: string) => `Plugin error: ${why}`,
  /** Two enabled triggers would serve the same path. */
  request_path_taken: (details: { readonly path: string; readonly trigger: string }) =>
    `request path '${details.path}' is already used by trigger '${details.trigger}'; disable that trigger first`,
  plugin_fetch_failed: (why: string) =>
    `Plugin error: error fetching plugin from repository: ${why}`,
  /** The setting `plugin_dir_only` is enabled. */
  plugin_folder_locked:
    'plugin installation is disabled; plugins must already exist in the configured plugin directory',
  /** The path or content of an uploaded file is not allowed. */
  plugin_file_refused: asGiven,
  package_installation_disabled:
    'Package installation has been disabled. Contact your administrator for more information.',
  /** Exit code of the installer; `undefined` if it did not run. */
  package_installation_failed: (details: {
    readonly why: string;
    readonly exitCode?: number | undefined;
  }) => `Processing engine error: error installing python packages: ${details.why}`,
  /**
   * An entry of a package list is not a package from a package index: it is empty, an option, a URL or a path.
   */
  package_name_invalid: (entry: string) =>
    `invalid package name '${entry}'; use a name such as 'x[extra]>=1', or list files and URLs in a requirements file in the plugin directory`,
  requirements_missing: (details: { readonly path: string }) =>
    `requirements file not found: ${details.path}`,
  /**
   * The content of a requirements file is not allowed; the message reveals only the line number.
   */
  requirements_refused: asGiven,
  /** The interpreter is missing or too old. */
  python_unavailable: (why: string) => `Python plugins not enabled on this server: ${why}`,
  /** The cron expression of a dry run is invalid. */
  cron_invalid: asGiven,
} as const;
