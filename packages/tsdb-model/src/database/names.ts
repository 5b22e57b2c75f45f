/** The server's own database: always exists; can be queried, but not written or deleted. */
export const INTERNAL_DATABASE = '_internal';

/** Prefix of the tables of the internal database that are copies of a table under conversion. */
const STAGED_PREFIX = 'convert_';

export const stagedName = (tableId: number): string => `${STAGED_PREFIX}${tableId}`;
export const isStagedName = (name: string): boolean => name.startsWith(STAGED_PREFIX);

/** Returns whether the name is reserved, so that no tag or field can have it. */
export function isReservedColumn(name: string): boolean {
  return name === 'time' || name === '__chunk_order';
}

/** Returns the database of a retention policy (`db/policy`); `undefined` for the name of a database. */
export function databaseOfPolicy(name: string): string | undefined {
  const slash = name.indexOf('/');
  return slash === -1 ? undefined : name.slice(0, slash);
}

/** Returns the reason why this database cannot be created: InfluxQL uses these policy names for the database itself. */
export function findNewDatabaseFault(name: string): string | undefined {
  const database = databaseOfPolicy(name);
  if (database === undefined || !/\/(?:autogen|default)$/.test(name)) return undefined;
  return `'${name}' is database '${database}' itself: name it without its default retention policy`;
}

const MAX_NATIVE_NAME_SIZE_BYTES = 511;
const MAX_LEGACY_NAME_SIZE_BYTES = 64;

/**
 * Checks the rule of the native and management endpoints.
 * @returns the error for the client, or `undefined`. Source: tsdb-http, "Database names".
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
 * Checks the rule of the v1 and v2 write endpoints, which is applied before the native one: fewer bytes, more
 * characters. Character positions start at 0. Source: tsdb-http, "Request-level failures".
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
