import { bytesText } from '@plinth/console-core/lib/units.js';
import { useEffect, useState } from 'react';
import { Icon } from '../../../components/controls/icon.js';

/** Accepts a file through the file dialog or by drag and drop. */
export function FileChoice(props: {
  readonly file: File | undefined;
  readonly isDisabled: boolean;
  readonly onFile: (file: File) => void;
}) {
  const { file, isDisabled, onFile } = props;
  const [isDraggedOver, setIsOver] = useState(false);
  // A file dropped outside the box would replace the page.
  useEffect(() => {
    const stay = (event: DragEvent) => event.preventDefault();
    for (const name of ['dragover', 'drop'] as const) window.addEventListener(name, stay);
    return () => {
      for (const name of ['dragover', 'drop'] as const) window.removeEventListener(name, stay);
    };
  }, []);
  const take = (files: FileList | null) => {
    setIsOver(false);
    const [first] = files ?? [];
    if (first !== undefined && !isDisabled) onFile(first);
  };
  return (
    <label
      className={`file-choice ${isDisabled ? 'file-off' : isDraggedOver ? 'file-over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        take(event.dataTransfer.files);
      }}
    >
      <Icon name="table" size={20} />
      <span className="grow">
        {file === undefined ? (
          <>
            <strong>Choose a CSV file</strong> or drop it here
          </>
        ) : (
          <>
            <strong className="file-name">{file.name}</strong> {bytesText(file.size)}
          </>
        )}
        <span className="hint soft">
          {file === undefined
            ? 'The first line must contain the column names.'
            : isDisabled
              ? 'Writing …'
              : 'Choose another file'}
        </span>
      </span>
      <input
        type="file"
        className="visually-hidden"
        accept=".csv,.tsv,.txt,text/csv"
        disabled={isDisabled}
        onChange={(event) => {
          take(event.target.files);
          // Without the reset, choosing the same file again would not fire a change event.
          event.target.value = '';
        }}
      />
    </label>
  );
}
