import type { FileSystem } from '@plinth/kernel';
import { Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { identityError } from '../errors.js';
import { isTokenText, OPERATOR_TOKEN_NAME, TokenName } from '../model/api-token.js';
import type { PresetToken } from './api-tokens.js';

/** The last that there is a date for. */
const MAX_EXPIRY_MS = 8_640_000_000_000_000;

const TokenFile = Type.Object({
  token: Type.String(),
  name: Type.Optional(TokenName),
  expiry_millis: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: MAX_EXPIRY_MS }), Type.Null()]),
  ),
});

const MAX_FILE_SIZE_BYTES = 65_536;

/** Throws `token_file_invalid`, whose message never holds the token. Source: tsdb-http, "Preset token file". */
export async function readTokenFile(files: FileSystem, path: string): Promise<PresetToken> {
  const content = parseJson(path, await readText(files, path));
  if (!Compile(TokenFile).Check(content)) {
    const why = 'expected {"token": text, "name"?: text, "expiry_millis"?: whole number}';
    throw identityError('token_file_invalid', { path, why });
  }
  if (!isTokenText(content.token)) {
    throw identityError('token_file_invalid', {
      path,
      why: 'the token does not start with apiv3_',
    });
  }
  return {
    text: content.token,
    name: content.name ?? OPERATOR_TOKEN_NAME,
    expiryMs: content.expiry_millis ?? undefined,
  };
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw identityError('token_file_invalid', { path, why: 'not valid JSON' });
  }
}

async function readText(files: FileSystem, path: string): Promise<string> {
  const file = await files.open(path, 'r').catch((error: unknown) => {
    throw identityError('token_file_invalid', { path, why: (error as Error).message }); // the system says it
  });
  try {
    const sizeBytes = await file.sizeBytes();
    if (sizeBytes > MAX_FILE_SIZE_BYTES)
      throw identityError('token_file_invalid', { path, why: 'too large' });
    const bytes = new Uint8Array(sizeBytes);
    const readBytes = await file.read(bytes, 0);
    return Buffer.from(bytes.subarray(0, readBytes)).toString();
  } finally {
    await file.close();
  }
}
