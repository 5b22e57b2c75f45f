import { IDENTITY_SETTINGS } from '@plinth/identity';
import { defineSettings, type LoadedSettings, type SettingsOf, settingsPage } from '@plinth/kernel';
import { TSDB_SETTINGS } from '@plinth/tsdb';
import { type TSchemaOptions, Type } from 'typebox';

export const SERVICE_NAMES = ['tsdb'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

/** The union's own type is lost in `map`. */
const oneOf = <const T extends string>(names: readonly T[], options: TSchemaOptions = {}) =>
  Type.Unsafe<T>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      options,
    ),
  );

/** Settings of the server as a whole. Names of the real system: tsdb-http, section 19. */
export const SERVER_SETTINGS = defineSettings(
  'server',
  {
    http_bind: Type.String({
      default: '0.0.0.0:8181',
      pattern: '^(\\[[0-9a-fA-F:.]+\\]|[^:\\s]+):\\d{1,5}$',
      examples: ['127.0.0.1:8181'],
      description: 'address and port to listen on; port 0 takes a free one',
    }),
    data_dir: Type.String({
      default: 'plinth-data',
      minLength: 1,
      description: 'folder that holds everything the server stores',
    }),
    node_id: Type.String({
      default: 'node0',
      minLength: 1,
      description: 'label of this node in logs',
    }),
    object_store: oneOf(['file', 'memory'], {
      default: 'file',
      description: 'where data live; `memory` keeps nothing after the end of the process',
    }),
    services: Type.Array(oneOf(SERVICE_NAMES), {
      default: [...SERVICE_NAMES],
      minItems: 1,
      description: 'services to run',
    }),
    shutdown_timeout_ms: Type.Integer({
      default: 30_000,
      minimum: 0,
      description: 'how long a stop waits for running requests',
    }),
    log_level: oneOf(LOG_LEVELS, {
      default: 'info',
      description: 'least severe level that is logged; requests are logged at `debug`',
    }),
  },
  {
    http_bind: { flags: ['http-bind'], env: ['PLINTH_HTTP_BIND', 'INFLUXDB3_HTTP_BIND_ADDR'] },
    data_dir: {
      flags: ['data-dir'],
      env: ['PLINTH_DATA_DIR', 'INFLUXDB3_DATA_DIR', 'INFLUXDB3_DB_DIR'],
    },
    node_id: {
      flags: ['node-id'],
      env: ['INFLUXDB3_NODE_ID', 'INFLUXDB3_NODE_IDENTIFIER_PREFIX'],
    },
    object_store: { flags: ['object-store'], env: ['INFLUXDB3_OBJECT_STORE'] },
    services: { flags: ['services'], env: ['PLINTH_SERVICES'] },
    shutdown_timeout_ms: { flags: ['shutdown-timeout'] },
    log_level: {
      flags: ['log-level', 'log-filter'],
      env: ['PLINTH_LOG_LEVEL', 'INFLUXDB3_LOG_FILTER'],
    },
  },
);

/** All sections, by the name under which each part receives its own. */
export const SETTINGS = {
  server: SERVER_SETTINGS,
  identity: IDENTITY_SETTINGS,
  tsdb: TSDB_SETTINGS,
};

/** `docs/SETTINGS.md`, from the declarations. */
export const describeAllSettings = (): string => settingsPage(Object.values(SETTINGS));

export type Settings = LoadedSettings<typeof SETTINGS>;
export type ServerSettings = SettingsOf<typeof SERVER_SETTINGS>;
