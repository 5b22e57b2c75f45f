import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { queryRows } from '../../api/tsdb.js';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { TableWrap } from '../../components/controls/table-wrap.js';
import { lanesOf } from '../../lib/lanes.js';
import { bytesText, countText } from '../../lib/units.js';
import './table-files.css';

const MAX_FILES = 500;
const LISTED = 50;
const LANE = 12;
const GAP = 3;
const WIDTH = 1000;
/** A file of one moment is to be seen as well. */
const MIN_WIDTH = 3;
const NS_PER_MS = 1e6;

interface File {
  readonly path: string;
  readonly size_bytes: number;
  readonly row_count: number;
  /** Nanoseconds since 1970, as near as a double is. */
  readonly min_time: number;
  readonly max_time: number;
}

const timeText = (ns: number): string =>
  new Date(ns / NS_PER_MS).toISOString().slice(0, 19).replace('T', ' ');

/** The files of a table on a line of time: those that overlap lie above each other. */
export function TableFiles({ db, table }: { readonly db: string; readonly table: string }) {
  const id = useId();
  const files = useQuery({
    queryKey: ['tsdb', 'files', db, table],
    queryFn: () =>
      queryRows<File>({
        db,
        lang: 'sql',
        text: `SELECT path, size_bytes, row_count, min_time, max_time FROM system.parquet_files WHERE table_name = '${table.replaceAll("'", "''")}' ORDER BY min_time LIMIT ${MAX_FILES}`,
      }),
  });
  const list = files.data ?? [];
  return (
    <section className="stack" aria-labelledby={id}>
      <h2 id={id}>Files</h2>
      {files.isError && <ProblemNote error={files.error} onRetry={() => void files.refetch()} />}
      {files.data !== undefined && list.length === 0 && (
        <p className="card empty soft">
          All rows are in memory and in the log; the next flush writes the first file.
        </p>
      )}
      {list.length > 0 && <Strip files={list} />}
      {list.length > 0 && (
        <TableWrap label="Files">
          <thead>
            <tr>
              <th>From – to (UTC)</th>
              <th className="num">Rows</th>
              <th className="num">Size</th>
              <th className="wide">Name</th>
            </tr>
          </thead>
          <tbody>
            {list.slice(0, LISTED).map((file) => (
              <tr key={file.path}>
                <td className="nowrap">
                  {timeText(file.min_time)} – {timeText(file.max_time)}
                </td>
                <td className="num">{countText(file.row_count)}</td>
                <td className="num nowrap">{bytesText(file.size_bytes)}</td>
                <td className="wide">
                  <code>{file.path}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </TableWrap>
      )}
      {list.length > LISTED && (
        <p className="hint soft">
          The first {LISTED} of {list.length === MAX_FILES ? `${MAX_FILES} or more` : list.length}{' '}
          are listed.
        </p>
      )}
    </section>
  );
}

function Strip({ files }: { readonly files: readonly File[] }) {
  const lanes = lanesOf(files.map(({ min_time, max_time }) => ({ from: min_time, to: max_time })));
  const laneCount = Math.max(...lanes) + 1;
  const first = files[0]?.min_time ?? 0;
  const last = Math.max(...files.map((file) => file.max_time));
  const scale = (WIDTH - MIN_WIDTH) / Math.max(1, last - first);
  const height = laneCount * (LANE + GAP) - GAP;
  return (
    <figure className="file-strip">
      <svg
        role="img"
        aria-label={`${files.length} files from ${timeText(first)} to ${timeText(last)}, at most ${laneCount} over each other`}
        viewBox={`0 0 ${WIDTH} ${height}`}
        preserveAspectRatio="none"
        height={height}
      >
        {files.map((file, index) => (
          <rect
            key={file.path}
            x={(file.min_time - first) * scale}
            y={height - ((lanes[index] ?? 0) + 1) * (LANE + GAP) + GAP}
            width={Math.max(MIN_WIDTH, (file.max_time - file.min_time) * scale)}
            height={LANE}
          >
            <title>{`${timeText(file.min_time)} – ${timeText(file.max_time)}\n${countText(file.row_count)} rows, ${bytesText(file.size_bytes)}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption className="row small soft">
        <span>{timeText(first)}</span>
        <span className="end">{timeText(last)}</span>
      </figcaption>
    </figure>
  );
}
