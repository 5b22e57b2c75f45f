import { defineSettings, type SettingsOf } from '@plinth/kernel';
import { Type } from 'typebox';

/** Source: gamedata, section 10. */
export const GAMEDATA_SETTINGS = defineSettings('gamedata', {
  sample: Type.Boolean({
    default: true,
    description: 'load the sample data set when the server first starts',
  }),
  sample_seed: Type.Integer({
    default: 1,
    minimum: 0,
    maximum: 4_294_967_295,
    description: 'random seed for the sample data set',
  }),
  default_limit: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: 5000,
    description: 'default number of records in a list',
  }),
  max_limit: Type.Integer({
    default: 5000,
    minimum: 1,
    maximum: 100_000,
    description: 'maximum number of records in a list',
  }),
  cache_bytes: Type.Integer({
    default: 33_554_432,
    minimum: 0,
    description: 'memory for cached responses; the least recently used are evicted first',
  }),
  text_memory_bytes: Type.Integer({
    default: 16_777_216,
    minimum: 0,
    description: 'memory for record content',
    details: 'Content beyond this limit is read from a temporary file in the data folder.',
  }),
  keep_versions: Type.Integer({
    default: 20,
    minimum: 1,
    maximum: 1000,
    description: 'number of published versions to keep',
  }),
  keep_history: Type.Integer({
    default: 100_000,
    minimum: 10,
    maximum: 10_000_000,
    description: 'number of changes to keep in the history',
    details: 'Unpublished changes and changes that an `overlay` import requires are always kept.',
  }),
  keep_history_bytes: Type.Integer({
    default: 268_435_456,
    minimum: 1_048_576,
    description: 'maximum size of record states in the history',
    details:
      'The size includes each record before and after each change. Unpublished changes and changes that an `overlay` import requires are always kept.',
  }),
  editor_origins: Type.Array(Type.String({ pattern: '^https?://[^/\\s]+$' }), {
    default: [],
    description: 'web origins that may call the editor',
  }),
  require_if_match: Type.Boolean({
    default: false,
    description: 'reject record changes without an `If-Match` header',
  }),
  tokens: Type.Array(
    Type.String({
      pattern: '^[A-Za-z0-9_.-]{1,64}:[0-9a-f]{64}:[a-z+]{1,64}(:\\d{4}-\\d{2}-\\d{2})?$',
    }),
    {
      default: [],
      description: 'editor tokens as `name:sha256 of the token:scopes[:last day]`',
      details: 'Scopes are `read`, `write`, `publish` and `admin`, joined by `+`.',
    },
  ),
  admin_token: Type.Optional(
    Type.String({
      minLength: 16,
      maxLength: 4096,
      description: "editor token with all scopes, in addition to the server's admin tokens",
    }),
  ),
  admin_token_file: Type.Optional(
    Type.String({ minLength: 1, description: 'file that contains the editor admin token' }),
  ),
  max_import_bytes: Type.Integer({
    default: 67_108_864,
    minimum: 1024,
    maximum: 1_073_741_824,
    description: 'maximum body size of an import',
  }),
  max_import_records: Type.Integer({
    default: 250_000,
    minimum: 1,
    maximum: 10_000_000,
    description: 'maximum number of records in an import',
    details: 'Each record uses about 2 kB of memory in addition to its text.',
  }),
  image_base: Type.String({
    default: '',
    pattern: '^(https://[^\\s?#"<>]*[^\\s?#"<>/])?$',
    examples: ['https://cdn.example/pictures'],
    description: 'base URL for relative image paths in records',
    details:
      'Default: images are files in `gamedata/images` of the data folder, served at `/images`.',
  }),
  cors: Type.Boolean({
    default: true,
    description: 'allow web pages of any origin to read the public data',
  }),
  max_age_sec: Type.Integer({
    default: 60,
    minimum: 0,
    description: 'how long caches may keep a response of the newest version without revalidation',
  }),
});
export type GameDataConfig = SettingsOf<typeof GAMEDATA_SETTINGS>;
