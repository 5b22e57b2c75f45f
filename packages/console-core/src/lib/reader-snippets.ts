/** A published table, as one of its two namespaces. */
interface Published {
  readonly namespace: string;
  readonly table: string;
  readonly format_version: number;
  readonly location: string;
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const pythonText = (text: string): string => JSON.stringify(text);

/**
 * Programs and statements that read a published table. Source: docs/OPEN-TABLES.md.
 * @param origin the address of this server.
 */
export function readerSnippets(
  { namespace, table, format_version, location }: Published,
  origin: string,
): readonly (readonly [reader: string, text: string])[] {
  if (format_version === 2) {
    const statement = `SELECT count(*) FROM plinth.${quoted(namespace)}.${quoted(table)} WHERE time_ns >= 0`;
    return [
      ['Trino', statement],
      ['Spark', statement.replaceAll('"', '`')],
    ];
  }
  return [
    ['ClickHouse', `SELECT count(*) FROM ${clickHouseSource(location)}`],
    [
      'PyIceberg, pandas',
      `from pyiceberg.catalog import load_catalog

catalog = load_catalog("plinth", type="rest", uri="${origin}/iceberg", token="apiv3_...")
frame = catalog.load_table((${pythonText(namespace)}, ${pythonText(table)})).scan().to_pandas()`,
    ],
  ];
}

/** Returns the ClickHouse table function. Users fill in the address and credentials of their bucket. */
function clickHouseSource(location: string): string {
  const place = location.replaceAll("'", "''");
  if (!place.startsWith('s3://')) return `icebergLocal('${place.replace(/^file:\/\//, '')}')`;
  const address = place.replace(/^s3:\/\//, 'https://s3.example.com/');
  return `icebergS3('${address}', 'access key', 'secret')`;
}
