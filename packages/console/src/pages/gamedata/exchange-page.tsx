import {
  exportData,
  faultsOf,
  type ImportReport,
  importData,
} from '@plinth/console-core/api/gamedata.js';
import { countOf, countText } from '@plinth/console-core/lib/units.js';
import { useState } from 'react';
import { DataTable } from '../../components/controls/data-table.js';
import { Fact } from '../../components/controls/fact.js';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { useTask } from '../../components/controls/use-task.js';
import { FaultList } from '../../components/form/fault-list.js';
import { GameDataFrame } from './gamedata-frame.js';
import { useEditor } from './use-editor.js';

/** Imports a data set after a dry run, and exports the data. */
export function ExchangePage() {
  return (
    <GameDataFrame tab="/gamedata/exchange">
      <Import />
      <Export />
    </GameDataFrame>
  );
}

function Import() {
  const { missing } = useEditor();
  const { changed } = useChanges('gamedata');
  const { run, error, isBusy } = useTask();
  const [file, setFile] = useState<File | undefined>();
  const [format, setFormat] = useState('native');
  const [mode, setMode] = useState('merge');
  const [isPublished, setIsPublished] = useState(false);
  const [report, setReport] = useState<ImportReport | undefined>();
  const choose = (change: () => void) => {
    change();
    setReport(undefined);
  };
  const start = (dryRun: boolean) =>
    run(async () => {
      if (file === undefined) return;
      const options = { format, mode, dryRun, publish: isPublished };
      const result = await importData(await file.text(), options);
      setReport(dryRun ? result : undefined);
      if (!dryRun)
        await changed(
          `${file.name} imported${isPublished ? ` as version ${result.version}` : ' to the draft'}`,
        );
    });
  const isDisabled = file === undefined || isBusy || missing('admin') !== undefined;
  return (
    <section className="card stack form-card" aria-labelledby="import-title">
      <h2 id="import-title">Import</h2>
      <div className="field">
        <label htmlFor="import-file">File (JSON)</label>
        <input
          id="import-file"
          type="file"
          accept=".json,application/json"
          onChange={(event) => choose(() => setFile(event.target.files?.[0]))}
        />
      </div>
      <div className="row wrap">
        <label className="row">
          Format
          <select
            className="input"
            value={format}
            onChange={(event) => choose(() => setFormat(event.target.value))}
          >
            <option value="native">native</option>
            <option value="tarkovdata">tarkovdata</option>
          </select>
        </label>
        <label className="row">
          Mode
          <select
            className="input"
            value={mode}
            onChange={(event) => choose(() => setMode(event.target.value))}
          >
            <option value="merge">merge by id</option>
            <option value="replace">replace all records</option>
          </select>
        </label>
        <label className="row">
          <input
            type="checkbox"
            checked={isPublished}
            onChange={(event) => choose(() => setIsPublished(event.target.checked))}
          />
          publish immediately
        </label>
      </div>
      {error !== undefined && <ProblemNote error={error} />}
      <FaultList faults={faultsOf(error)} />
      <div className="row wrap">
        <button
          type="button"
          className="button primary"
          disabled={isDisabled}
          title={missing('admin')}
          onClick={() => void start(true)}
        >
          Dry run
        </button>
        <button
          type="button"
          className="button"
          disabled={isDisabled || report === undefined}
          title={missing('admin')}
          onClick={() => void start(false)}
        >
          Import
        </button>
        <span className="hint soft">The dry run lists the changes and stores nothing.</span>
      </div>
      {report && <Report {...report} />}
    </section>
  );
}

function Report({ counts, changes, warnings }: ImportReport) {
  return (
    <div className="stack" role="status">
      <dl className="facts">
        <Fact name="Created" value={countText(changes.created)} />
        <Fact name="Updated" value={countText(changes.updated)} />
        <Fact name="Deleted" value={countText(changes.deleted)} />
        <Fact name="Warnings" value={countText(warnings.total)} />
      </dl>
      <DataTable
        label="Records in the file"
        rows={Object.entries(counts)}
        keyOf={([type]) => type}
        columns={[
          { title: 'Collection', className: 'wide', cell: ([type]) => type },
          { title: 'Records', className: 'num', cell: ([, count]) => countText(count) },
        ]}
      />
      <FaultList
        isWarning
        faults={warnings.sample.map(({ code, message }) => ({ message: `${code}: ${message}` }))}
      />
      {warnings.total > warnings.sample.length && (
        <p className="hint soft">
          Showing the first {countText(warnings.sample.length)} of{' '}
          {countOf(warnings.total, 'warning')}
        </p>
      )}
    </div>
  );
}

function Export() {
  const { run, error, isBusy } = useTask();
  const download = (isDraft: boolean) =>
    run(async () => {
      const url = URL.createObjectURL(await exportData(isDraft));
      const link = document.createElement('a');
      link.href = url;
      link.download = isDraft ? 'gamedata-draft.json' : 'gamedata.json';
      link.click();
      URL.revokeObjectURL(url);
    });
  return (
    <section className="card stack form-card" aria-labelledby="export-title">
      <h2 id="export-title">Export</h2>
      {error !== undefined && <ProblemNote error={error} />}
      <div className="row wrap">
        <button
          type="button"
          className="button"
          disabled={isBusy}
          onClick={() => void download(false)}
        >
          Export published data
        </button>
        <button
          type="button"
          className="button"
          disabled={isBusy}
          onClick={() => void download(true)}
        >
          Export draft
        </button>
      </div>
    </section>
  );
}
