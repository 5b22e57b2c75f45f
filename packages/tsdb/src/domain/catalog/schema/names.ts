/** The server's own database: exists from the start, can be queried, cannot be written or deleted. */
export const INTERNAL_DATABASE = '_internal';

/** No tag or field may have one of these names. */
export function isReservedColumn(name: string): boolean {
  return name === 'time' || name === '__chunk_order';
}

/** The database that a retention policy (`db/policy`) belongs to; `undefined`: the name is that of a database itself. */
export function ownerOf(name: string): string | undefined {
  const slash = name.indexOf('/');
  return slash === -1 ? undefined : name.slice(0, slash);
}

/** What is wrong with making this database: these policies are the database itself, wherever InfluxQL names them. */
export function findNewDatabaseFault(name: string): string | undefined {
  const owner = ownerOf(name);
  if (owner === undefined || !/\/(?:autogen|default)$/.test(name)) return undefined;
  return `'${name}' is database '${owner}' itself: name it without its default retention policy`;
}

const MAX_NATIVE_NAME_SIZE_BYTES = 511;
const MAX_LEGACY_NAME_SIZE_BYTES = 64;

/**
 * The rule of the native and management endpoints.
 * @returns what is wrong with the name as the client is told, or `undefined`.
 * Source: tsdb-http, "Database names".
 */
export function findDatabaseNameFault(name: string): string | undefined {
  if (name === '') return 'db name cannot be empty';
  if (Buffer.byteLength(name) > MAX_NATIVE_NAME_SIZE_BYTES) {
    return `db name too long: max ${MAX_NATIVE_NAME_SIZE_BYTES}`;
  }
  if (!/^[A-Za-z0-9]/.test(name)) return 'db name did not start with a number or letter';
  if (!/^[A-Za-z0-9_/-]*$/.test(name)) {
    return 'invalid character in database or rp name: must be ASCII, containing only letters, numbers, underscores, or hyphens';
  }
  const slash = name.indexOf('/');
  if (slash !== -1 && (slash === name.length - 1 || name.includes('/', slash + 1))) {
    return "db name with invalid retention policy, if providing a retention policy name, must be of form '<db_name>/<rp_name>'";
  }
  return undefined;
}

/**
 * The rule that the v1 and v2 write endpoints apply before the native one: fewer bytes, more letters. Characters
 * are counted from 0.
 * Source: tsdb-http, "Request-level failures".
 */
export function findLegacyDatabaseNameFault(name: string): string | undefined {
  const sizeBytes = Buffer.byteLength(name);
  if (sizeBytes < 1 || sizeBytes > MAX_LEGACY_NAME_SIZE_BYTES) {
    return `namespace name ${name} length must be between 1 and ${MAX_LEGACY_NAME_SIZE_BYTES} characters`;
  }
  let index = 0;
  for (const character of name) {
    if (!/[\p{Alphabetic}\p{N}/_-]/u.test(character)) {
      return `namespace name '${name}' contains invalid character, character number ${index} is not allowed`;
    }
    index++;
  }
  return undefined;
}
