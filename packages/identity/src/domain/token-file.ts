import type { FileSystem, Random } from '@plinth/kernel';
import { Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { identityError } from '../errors.js';
import {
  isTokenText,
  makeTokenText,
  OPERATOR_TOKEN_NAME,
  secretLength,
  TokenName,
} from '../model/api-token.js';
import type { PresetToken } from './api-tokens.js';

/** Largest timestamp that a Date can represent. */
const MAX_EXPIRY_MS = 8_640_000_000_000_000;

const TokenFile = Type.Object({
  token: Type.String(),
  name: Type.Optional(TokenName),
  expiry_millis: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: MAX_EXPIRY_MS }), Type.Null()]),
  ),
});

const MAX_FILE_SIZE_BYTES = 65_536;
/**
 * Minimum length after the prefix. Tokens are stored as a fast hash, so shorter ones could be found
 * by brute force.
 */
const MIN_SECRET_LENGTH = 32;
/** Read and write permission for all users of the machine. */
const WORLD_ACCESS = 0o006;
const GENERATE = 'create the file with `plinth token generate --file`';

/**
 * Throws `token_file_invalid`, whose message never contains the token. Source: tsdb-http, "Preset
 * token file".
 */
export async function readTokenFile(files: FileSystem, path: string): Promise<PresetToken> {
  await refuseOpenFile(files, path);
  const content = parseJson(path, await readText(files, path));
  if (!Compile(TokenFile).Check(content)) {
    const why = 'expected {"token": string, "name"?: string, "expiry_millis"?: integer}';
    throw identityError('token_file_invalid', { path, why });
  }
  if (!isTokenText(content.token)) {
    throw identityError('token_file_invalid', {
      path,
      why: 'the token does not start with apiv3_',
    });
  }
  const length = secretLength(content.token);
  if (length < MIN_SECRET_LENGTH) {
    const why = `the token has ${length} characters after apiv3_; at least ${MIN_SECRET_LENGTH} are required; ${GENERATE}`;
    throw identityError('token_file_invalid', { path, why });
  }
  return {
    text: content.token,
    name: content.name ?? OPERATOR_TOKEN_NAME,
    expiryMs: content.expiry_millis ?? undefined,
  };
}

/**
 * Writes a new token to a file that only its owner can read, in the format of `readTokenFile`.
 * Rejects with `EEXIST` if the file exists.
 */
export async function writeTokenFile(
  files: FileSystem,
  random: Random,
  options: { readonly path: string; readonly name?: string; readonly expiryMs?: number },
): Promise<void> {
  const { path, name = OPERATOR_TOKEN_NAME, expiryMs } = options;
  const content = {
    token: makeTokenText(random),
    name,
    ...(expiryMs !== undefined && { expiry_millis: expiryMs }),
  };
  if (!Compile(TokenFile).Check(content)) {
    const why = `${JSON.stringify(name)} is not a valid token name`;
    throw identityError('token_file_invalid', { path, why });
  }
  const file = await files.open(path, 'wx', 'buffered', 'private');
  try {
    await file.write([Buffer.from(`${JSON.stringify(content, null, 2)}\n`)], 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Windows takes permissions from the folder, and the mode is meaningless there. */
async function refuseOpenFile(files: FileSystem, path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const mode = (await files.stat(path))?.mode ?? 0;
  if ((mode & WORLD_ACCESS) === 0) return;
  const why = `all users of this machine can access it (mode ${mode.toString(8).padStart(4, '0')}); run \`chmod 600\` on it`;
  throw identityError('token_file_invalid', { path, why });
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which contains the token.
    throw identityError('token_file_invalid', { path, why: 'not valid JSON' });
  }
}

async function readText(files: FileSystem, path: string): Promise<string> {
  const file = await files.open(path, 'r').catch((error: unknown) => {
    throw identityError('token_file_invalid', { path, why: (error as Error).message }); // system message
  });
  try {
    const sizeBytes = await file.sizeBytes();
    if (sizeBytes > MAX_FILE_SIZE_BYTES)
      throw identityError('token_file_invalid', {
        path,
        why: `the file is larger than ${MAX_FILE_SIZE_BYTES} bytes`,
      });
    const bytes = new Uint8Array(sizeBytes);
    const readBytes = await file.read(bytes, 0);
    return Buffer.from(bytes.subarray(0, readBytes)).toString();
  } finally {
    await file.close();
  }
}
