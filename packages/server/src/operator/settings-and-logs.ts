import {
  type Dialect,
  type HttpService,
  jsonAnswer,
  type LogRing,
  listSettings,
  OpenApi,
  operatorRoute,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { SETTINGS, type Settings } from '../settings.js';

const maybe = Type.Optional;
const Setting = Type.Object({
  name: Type.String(),
  value: maybe(Type.Unknown({ description: 'absent: it has none, or it is a secret' })),
  default: maybe(Type.Unknown()),
  is_secret: Type.Boolean(),
  is_default: Type.Boolean(),
  description: Type.String(),
  flag: Type.String(),
  variable: Type.String(),
});
const Line = Type.Object({
  seq: Type.Integer({ description: 'counts all lines of the process' }),
  time: Type.String({ format: 'date-time' }),
  level: OpenApi.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
  service: maybe(Type.String()),
  message: Type.String(),
  fields: Type.Record(Type.String(), Type.Unknown()),
});
const Lines = Type.Object({
  lines: Type.Array(Line),
  first_seq: Type.Integer({ description: 'the oldest that is kept' }),
  last_seq: Type.Integer(),
});
const Filter = Type.Object({
  level: maybe(Type.String({ pattern: '^(?:trace|debug|info|warn|error|fatal)$' })),
  service: maybe(Type.String()),
  find: maybe(Type.String()),
  after: maybe(Type.Integer({ minimum: 0, description: 'only later ones than this seq' })),
  limit: maybe(Type.Integer({ minimum: 1, maximum: 1000, default: 200 })),
});
const { answer, json } = OpenApi;

/** With what this server was started, and what it has logged last. */
export const createSettingsAndLogs = (needs: {
  readonly dialect: Dialect;
  readonly settings: Settings;
  readonly ring: LogRing;
}): HttpService => ({
  name: 'settings',
  tables: () => [
    {
      dialect: needs.dialect,
      api: 'operator',
      routes: [
        operatorRoute('GET', '/settings', {
          about: { summary: 'Every setting with its value; of secrets only that they are ones' },
          output: { 200: answer('all', json(Type.Object({ settings: Type.Array(Setting) }))) },
          handle: () => jsonAnswer(200, { settings: listSettings(SETTINGS, needs.settings) }),
        }),
        operatorRoute('GET', '/logs', {
          about: { summary: 'The last 10,000 lines of the log, newest first' },
          input: { query: Filter },
          output: { 200: answer('lines that fit', json(Lines)) },
          handle(_request, { query: { limit = 200, ...filter } }) {
            const { ring } = needs;
            return jsonAnswer(200, {
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
      open: (parts, tell) =>
        parts.length > 0 ? undefined : needs.ring.watch((line) => tell('log', line)),
    },
  ],
  async start() {},
  async close() {},
});
