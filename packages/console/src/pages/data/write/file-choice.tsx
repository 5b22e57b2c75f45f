import { useEffect, useState } from 'react';
import { Icon } from '../../../components/controls/icon.js';
import { bytesText } from '../../../lib/units.js';

/** A file is chosen, or dropped. */
export function FileChoice(props: {
  readonly file: File | undefined;
  readonly isDisabled: boolean;
  readonly onFile: (file: File) => void;
}) {
  const { file, isDisabled, onFile } = props;
  const [isOver, setIsOver] = useState(false);
  // Dropped beside it, a file would take the place of the page.
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
      className={`file-choice ${isDisabled ? 'file-off' : isOver ? 'file-over' : ''}`}
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
            ? 'Its first line has the names of the columns.'
            : isDisabled
              ? 'Being written'
              : 'Choose another'}
        </span>
      </span>
      <input
        type="file"
        className="visually-hidden"
        accept=".csv,.tsv,.txt,text/csv"
        disabled={isDisabled}
        onChange={(event) => {
          take(event.target.files);
          // The same file, changed meanwhile, can be chosen again.
          event.target.value = '';
        }}
      />
    </label>
  );
}
