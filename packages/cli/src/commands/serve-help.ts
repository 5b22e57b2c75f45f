const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Server:': ['server.http_bind', 'server.data_dir', 'server.services', 'server.public_url'],
  'Access and TLS:': [
    'server.first_token',
    'identity.without_auth',
    'server.master_key_file',
    'server.tls_cert',
    'server.tls_key',
    'server.trusted_proxies',
  ],
  'Storage and backups:': [
    'server.database_url',
    'tsdb.memory_bytes',
    'backup.schedule',
    'backup.folder',
  ],
  'Logs:': ['server.log_level', 'server.log_format', 'server.access_log'],
  'Services:': ['tsdb.plugin_dir', 'webhooks.retry_policy', 'webhooks.allow_private_targets'],
};

/** Settings in `plinth serve --help`, with the heading of their group. `--help-all` shows all settings. */
export const COMMON_SETTINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(GROUPS).flatMap(([group, paths]) => paths.map((path) => [path, group])),
);
