import { compactTable, fetchStorage, type StoredFile } from '@plinth/console-core/api/storage.js';
import { bytesText, countText, nanosText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { CopyButton } from '../../components/controls/copy-button.js';
import { DataTable } from '../../components/controls/data-table.js';
import { Dialog } from '../../components/controls/dialog.js';
import { Fact } from '../../components/controls/fact.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { FileStrip } from './file-strip.js';
import { useStorageJobs } from './use-storage-jobs.js';
import './table-files.css';

const MAX_FILES = 500;
const LISTED = 50;

const spanText = ({ min_time, max_time }: StoredFile): string =>
  `${shortTime(min_time)} – ${shortTime(max_time)}`;
const shortTime = (ns: string): string => nanosText(BigInt(ns)).slice(0, 19);
const kindText = ({ kind, level }: StoredFile): string =>
  `${level === 0 ? 'flushed' : `merged, level ${level}`}${kind === 'overlay' ? ', overlay' : ''}`;

/**
 * Lists the files of a table, and draws them on a time axis with overlapping files in separate
 * rows.
 */
export function TableFiles({ db, table }: { readonly db: string; readonly table: string }) {
  const { refetchInterval } = useStorageJobs();
  const id = useId();
  const [opened, setOpened] = useState<StoredFile | undefined>();
  const storage = useQuery({
    queryKey: ['tsdb', 'storage', db, table],
    queryFn: () => fetchStorage({ db, table, limit: MAX_FILES }),
    refetchInterval,
  });
  const { files = [], file_count = 0, compaction } = storage.data ?? {};
  const isHere = (other: { readonly db: string; readonly table: string }): boolean =>
    other.db === db && other.table === table;
  const isBusy =
    compaction !== undefined &&
    ((compaction.running !== null && isHere(compaction.running)) ||
      compaction.waiting.some(isHere));
  const { act } = useChanges('tsdb', 'storage');
  const compact = async (file?: StoredFile) => {
    setOpened(undefined);
    await act(
      () => compactTable({ db, table }, file),
      file === undefined ? 'Compaction started' : 'Compaction of this time range started',
    );
  };
  return (
    <section className="stack" aria-labelledby={id}>
      <div className="row wrap">
        <h2 id={id}>Files</h2>
        {files.length > 0 && (
          <span className="row end">
            <span className="hint soft" role="status">
              {isBusy ? 'Compacting …' : ''}
            </span>
            <button
              type="button"
              className="button small"
              disabled={isBusy || files.length < 2}
              title={files.length < 2 ? 'Nothing to compact' : undefined}
              onClick={() => void compact()}
            >
              Compact
            </button>
          </span>
        )}
      </div>
      <QueryProblem of={storage} />
      {files.length > 0 && <FileStrip files={files} onOpen={setOpened} />}
      <DataTable
        label="Files"
        rows={storage.data && files.slice(0, LISTED)}
        empty="No files yet. The rows are in memory and in the log until the next flush writes a file."
        keyOf={(file) => file.path}
        columns={[
          { title: 'Time range (UTC)', className: 'nowrap', cell: (file) => spanText(file) },
          { title: 'Rows', className: 'num', cell: (file) => countText(file.row_count) },
          { title: 'Size', className: 'num nowrap', cell: (file) => bytesText(file.size_bytes) },
          { title: 'Kind', className: 'nowrap', cell: (file) => kindText(file) },
          {
            title: 'Name',
            className: 'wide',
            cell: (file) => (
              <button type="button" className="link mono" onClick={() => setOpened(file)}>
                {file.path.split('/').at(-1)}
              </button>
            ),
          },
        ]}
      />
      {file_count > LISTED && (
        <p className="hint soft">
          Listing the first {LISTED} of {countText(file_count)} files
          {file_count > files.length ? `; the chart shows the first ${files.length}` : ''}.
        </p>
      )}
      {opened && (
        <Dialog title="File" isOpen isDrawer onClose={() => setOpened(undefined)}>
          <dl className="facts">
            <Fact name="From (UTC)" value={nanosText(BigInt(opened.min_time))} />
            <Fact name="To (UTC)" value={nanosText(BigInt(opened.max_time))} />
            <Fact name="Rows" value={countText(opened.row_count)} />
            <Fact name="Size" value={bytesText(opened.size_bytes)} />
            <Fact name="Kind" value={kindText(opened)} />
          </dl>
          <div className="field">
            <span className="row small">
              Path below <code>objects</code> in the data folder
              <CopyButton text={opened.path} label="Copy path" />
            </span>
            <code className="file-path">{opened.path}</code>
          </div>
          {opened.kind === 'overlay' && (
            <p className="soft">
              This file contains newer values of points in other files. Queries merge them on read;
              compaction merges them permanently.
            </p>
          )}
          <div className="dialog-actions">
            <button
              type="button"
              className="button"
              disabled={isBusy}
              onClick={() => void compact(opened)}
            >
              Compact this time range
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}
