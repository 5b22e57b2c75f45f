import {
  type ApiConventions,
  type HttpService,
  jsonResponse,
  type Logger,
  type LogRing,
  listSettings,
  OpenApi,
  operatorRoute,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { LOG_LEVELS, type LogLevel } from '../process/log-filter.js';
import type { LogLevels } from '../process/log-levels.js';
import { SETTINGS, type Settings } from '../settings.js';

const maybe = Type.Optional;
const Setting = Type.Object({
  name: Type.String(),
  value: maybe(Type.Unknown({ description: 'absent if unset or secret' })),
  default: maybe(Type.Unknown()),
  is_secret: Type.Boolean(),
  is_default: Type.Boolean(),
  description: Type.String(),
  flag: Type.String(),
  variable: Type.String(),
});
const Line = Type.Object({
  seq: Type.Integer({ description: 'number of the line within the process' }),
  time: Type.String({ format: 'date-time' }),
  level: OpenApi.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
  service: maybe(Type.String()),
  message: Type.String(),
  fields: Type.Record(Type.String(), Type.Unknown()),
});
const Lines = Type.Object({
  lines: Type.Array(Line),
  first_seq: Type.Integer({ description: 'oldest stored line' }),
  last_seq: Type.Integer(),
});
const Filter = Type.Object({
  level: maybe(Type.String({ pattern: '^(?:trace|debug|info|warn|error|fatal)$' })),
  service: maybe(Type.String()),
  find: maybe(Type.String()),
  after: maybe(Type.Integer({ minimum: 0, description: 'only lines after this seq' })),
  limit: maybe(Type.Integer({ minimum: 1, maximum: 1000, default: 200 })),
});
const LevelName = Type.Unsafe<LogLevel>(OpenApi.oneOf([...LOG_LEVELS]));
const Level = Type.Object({
  level: LevelName,
  configured: Type.String({ description: 'level after a restart' }),
});
const NewLevel = Type.Object({ level: LevelName }, { additionalProperties: false });
const { response, json } = OpenApi;

/** The settings that this server was started with, and its latest log lines. */
export const createSettingsAndLogs = (deps: {
  readonly conventions: ApiConventions;
  readonly settings: Settings;
  readonly ring: LogRing;
  readonly levels: LogLevels;
  readonly log: Logger;
}): HttpService => ({
  name: 'settings',
  routeGroups: () => [
    {
      conventions: deps.conventions,
      api: 'operator',
      routes: [
        operatorRoute('GET', '/settings', {
          about: { summary: 'List all settings with their values, except secrets' },
          output: {
            200: response('all settings', json(Type.Object({ settings: Type.Array(Setting) }))),
          },
          handle: () => jsonResponse(200, { settings: listSettings(SETTINGS, deps.settings) }),
        }),
        operatorRoute('GET', '/log-level', {
          about: { summary: 'Get the log level' },
          output: { 200: response('the level', json(Level)) },
          handle: () => jsonResponse(200, levelOf(deps.levels)),
        }),
        operatorRoute('PUT', '/log-level', {
          about: { summary: 'Change the log level until the next restart' },
          input: { body: NewLevel },
          output: { 200: response('the new level', json(Level)) },
          errors: { 422: 'unknown level' },
          handle(_request, { body }) {
            const { levels, log } = deps;
            levels.use(body.level);
            log.warn({ logLevel: body.level }, 'log level changed');
            return jsonResponse(200, levelOf(levels));
          },
        }),
        operatorRoute('GET', '/logs', {
          about: { summary: 'List the last 10,000 log lines, newest first' },
          input: { query: Filter },
          output: { 200: response('matching lines', json(Lines)) },
          handle(_request, { query: { limit = 200, ...filter } }) {
            const { ring } = deps;
            return jsonResponse(200, {
              lines: ring.find({ ...filter, limit }),
              first_seq: ring.firstSeq,
              last_seq: ring.lastSeq,
            });
          },
        }),
      ],
    },
  ],
  liveSources: () => [
    {
      name: 'server-logs',
      isState: false,
      open: (parts, notify) =>
        parts.length > 0 ? undefined : deps.ring.watch((line) => notify('log', line)),
    },
  ],
  async start() {},
  async close() {},
});

const levelOf = ({ level, configured }: LogLevels) => ({ level, configured });
