import { asGiven } from '@plinth/kernel';

/**
 * Expected failures of the processing engine, as part of this service's catalog, with the
 * documented messages.
 */
export const PROCESSING_TEXTS = {
  trigger_specification_invalid: (at: {
    readonly specification: string;
    readonly context: string | undefined;
  }) =>
    `failed to parse trigger from ${at.specification}${at.context === undefined ? '' : `: ${at.context}`}`,
  /** The setting `restrict_plugin_triggers_to` excludes this type of plugin. */
  plugin_type_refused: (at: { readonly type: string }) =>
    `invalid request: server is configured to reject ${at.type} plugin triggers`,
  /** The server's own database cannot have triggers. */
  internal_database_untriggered: 'cannot modify internal db',
  trigger_not_found: (at: { readonly trigger: string }) =>
    `the requested resource was not found: ${at.trigger}`,
  /** A file operation names a plugin by a trigger that does not exist. */
  plugin_of_trigger_not_found: (at: { readonly trigger: string }) =>
    `Processing engine error: plugin error: Plugin not found: ${at.trigger}`,
  trigger_is_running: (at: { readonly trigger: string }) =>
    `Cannot delete running plugin ${at.trigger}. Disable it first or use --force.`,
  plugin_file_missing: (at: { readonly path: string }) =>
    `Plugin error: reading plugin file: Plugin not found: ${at.path}`,
  plugin_folder_incomplete: (at: { readonly path: string }) =>
    `Plugin error: reading plugin file: Multi-file plugin directory must contain __init__.py: ${at.path}`,
  plugin_path_escapes: (at: { readonly path: string }) =>
    `Plugin error: Path traversal detected: plugin filename '${at.path}' attempts to access files outside the plugin directory`,
  /** The setting `plugin_dir` is missing. */
  no_plugin_folder: (at: { readonly for: 'trigger' | 'files' }) =>
    at.for === 'trigger'
      ? 'Plugin error: Node not configured with plugin directory: start the server with --plugin-dir'
      : 'Processing engine error: plugin error: No plugin directory configured: start the server with --plugin-dir',
  /** It does not compile, or lacks the function that the trigger calls. */
  plugin_invalid: (why: string) => `Plugin error: ${why}`,
  /** Two enabled triggers would serve the same path. */
  request_path_taken: (at: { readonly path: string; readonly trigger: string }) =>
    `request path '${at.path}' is answered by trigger '${at.trigger}' already: disable it first`,
  plugin_fetch_failed: (why: string) =>
    `Plugin error: error fetching plugin from repository: ${why}`,
  /** The setting `plugin_dir_only` is on. */
  plugin_folder_locked:
    'plugin installation is disabled; plugins must already exist in the configured plugin directory',
  /** The path or content of an uploaded file is not allowed. */
  plugin_file_refused: asGiven,
  package_installation_disabled:
    'Package installation has been disabled. Contact your administrator for more information.',
  /** `exitCode` of the installer; `undefined` if it did not run. */
  package_installation_failed: (at: {
    readonly why: string;
    readonly exitCode?: number | undefined;
  }) => `Processing engine error: error installing python packages: ${at.why}`,
  /**
   * An entry of a package list is not an index package: it is empty, an option, a URL or a path.
   */
  package_name_invalid: (entry: string) =>
    `invalid package name: '${entry}'; use a name with optional extras and versions, such as 'x[extra]>=1', and put files and URLs into a requirements file in the plugin directory`,
  requirements_missing: (at: { readonly path: string }) =>
    `requirements file not found: ${at.path}`,
  /**
   * The content of a requirements file is not allowed; the message reveals only the line number.
   */
  requirements_refused: asGiven,
  /** The interpreter is missing or too old. */
  python_unavailable: (why: string) => `Python plugins not enabled on this server: ${why}`,
  /** The cron expression of a dry run is invalid. */
  cron_invalid: asGiven,
} as const;
