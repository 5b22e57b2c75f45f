import { defineSettings, type SettingsOf } from '@plinth/kernel';
import { Type } from 'typebox';

/** Source: gamedata, section 10. */
export const GAMEDATA_SETTINGS = defineSettings('gamedata', {
  sample: Type.Boolean({
    default: true,
    description: 'fill an empty data folder with the sample data set at the first start',
  }),
  sample_seed: Type.Integer({
    default: 1,
    minimum: 0,
    maximum: 4_294_967_295,
    description: 'seed of the sample data set',
  }),
  default_limit: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: 5000,
    description: 'records in a list when the request names no limit',
  }),
  max_limit: Type.Integer({
    default: 5000,
    minimum: 1,
    maximum: 100_000,
    description: 'most records in one list',
  }),
  cache_bytes: Type.Integer({
    default: 33_554_432,
    minimum: 0,
    description: 'memory for finished replies; the least recently used go first',
  }),
  text_memory_bytes: Type.Integer({
    default: 16_777_216,
    minimum: 0,
    description:
      'texts of records that are held in memory; those beyond are read from a temporary file in the data folder',
  }),
  keep_versions: Type.Integer({
    default: 20,
    minimum: 1,
    maximum: 1000,
    description: 'published versions that are kept',
  }),
  keep_history: Type.Integer({
    default: 100_000,
    minimum: 10,
    maximum: 10_000_000,
    description:
      'changes that the history keeps; those not published yet, and what an import with `overlay` does again, are kept beside them',
  }),
  keep_history_bytes: Type.Integer({
    default: 268_435_456,
    minimum: 1_048_576,
    description:
      'records before and after their changes that the history keeps, with the same kept beside them',
  }),
  editor_origins: Type.Array(Type.String({ pattern: '^https?://[^/\\s]+$' }), {
    default: [],
    description: 'origins of web pages that may call the editor',
  }),
  require_if_match: Type.Boolean({
    default: false,
    description: 'refuse changes of records that do not say which state they are about (If-Match)',
  }),
  tokens: Type.Array(
    Type.String({
      pattern: '^[A-Za-z0-9_.-]{1,64}:[0-9a-f]{64}:[a-z+]{1,64}(:\\d{4}-\\d{2}-\\d{2})?$',
    }),
    {
      default: [],
      description:
        'editor tokens as `name:sha256 of the token:scopes[:last day]`, scopes joined by `+` of `read`, `write`, `publish`, `admin`',
    },
  ),
  admin_token: Type.Optional(
    Type.String({
      minLength: 16,
      maxLength: 4096,
      description: 'token with all scopes of the editor, beside the admin tokens of the server',
    }),
  ),
  admin_token_file: Type.Optional(
    Type.String({ minLength: 1, description: 'file that holds that token' }),
  ),
  max_import_bytes: Type.Integer({
    default: 67_108_864,
    minimum: 1024,
    maximum: 1_073_741_824,
    description: 'largest body of an import',
  }),
  max_import_records: Type.Integer({
    default: 250_000,
    minimum: 1,
    maximum: 10_000_000,
    description: 'most records of one import; each takes some 2 kB of memory beside its text',
  }),
  image_base: Type.String({
    default: '',
    pattern: '^(https://[^\\s?#"<>]*[^\\s?#"<>/])?$',
    examples: ['https://cdn.example/pictures'],
    description:
      'URL before relative images of records; without one they are files below `gamedata/images` of the data folder, served at `/images`',
  }),
  cors: Type.Boolean({
    default: true,
    description: 'let web pages of any origin read the public data',
  }),
  max_age_sec: Type.Integer({
    default: 60,
    minimum: 0,
    description: 'how long caches may keep a reply of the newest version without asking',
  }),
});
export type GameDataConfig = SettingsOf<typeof GAMEDATA_SETTINGS>;
