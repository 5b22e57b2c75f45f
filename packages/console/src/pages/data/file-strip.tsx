import type { StoredFile } from '@plinth/console-core/api/storage.js';
import { rowsOf } from '@plinth/console-core/lib/rows-of-spans.js';
import { bytesText, countOf, timeText } from '@plinth/console-core/lib/units.js';

const ROW_HEIGHT = 12;
const GAP = 3;
const WIDTH = 1000;
/** In SVG units, so that a file with a single timestamp stays visible. */
const MIN_WIDTH = 3;

const msOf = (ns: string): number => Number(BigInt(ns) / 1_000_000n);

/** Draws one box for each file on a time axis. The table next to it provides the same data to keyboards and screen readers. */
export function FileStrip(props: {
  readonly files: readonly StoredFile[];
  readonly onOpen: (file: StoredFile) => void;
}) {
  const { files, onOpen } = props;
  const spans = files.map(({ min_time, max_time }) => ({
    from: msOf(min_time),
    to: msOf(max_time),
  }));
  const rows = rowsOf(spans);
  const rowCount = Math.max(...rows) + 1;
  const first = spans[0]?.from ?? 0;
  const last = Math.max(...spans.map(({ to }) => to));
  const scale = (WIDTH - MIN_WIDTH) / Math.max(1, last - first);
  const height = rowCount * (ROW_HEIGHT + GAP) - GAP;
  return (
    <figure className="file-strip">
      <svg
        role="img"
        aria-label={`${countOf(files.length, 'file')} from ${timeText(first)} to ${timeText(last)}, at most ${rowCount} overlapping`}
        viewBox={`0 0 ${WIDTH} ${height}`}
        preserveAspectRatio="none"
        height={height}
      >
        {files.map((file, index) => {
          const { from = 0, to = 0 } = spans[index] ?? {};
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the list has a button for each.
            <rect
              key={file.path}
              className={file.kind}
              x={(from - first) * scale}
              y={height - ((rows[index] ?? 0) + 1) * (ROW_HEIGHT + GAP) + GAP}
              width={Math.max(MIN_WIDTH, (to - from) * scale)}
              height={ROW_HEIGHT}
              onClick={() => onOpen(file)}
            >
              <title>{`${timeText(from)} – ${timeText(to)}\n${countOf(file.row_count, 'row')}, ${bytesText(file.size_bytes)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption className="row small soft">
        <span>{timeText(first)}</span>
        <span className="end">{timeText(last)}</span>
      </figcaption>
    </figure>
  );
}
