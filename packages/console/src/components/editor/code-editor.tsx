import { type RefObject, useEffect, useImperativeHandle, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import './code-editor.css';
import type { MountEditor, MountedEditor } from './mount-editor.js';

export interface EditorHandle {
  insert(text: string): void;
}

export interface EditorProps {
  /** The accessible name. */
  readonly label: string;
  readonly text: string;
  /** Loads the code of the editor. */
  readonly load: () => Promise<MountEditor>;
  readonly problem: { readonly position: number; readonly message: string } | undefined;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  readonly onSave?: () => void;
  readonly handle?: RefObject<EditorHandle | null>;
}

const nextTask = () => new Promise((resolve) => setTimeout(resolve));

/** A plain text area until the editor has loaded; the editor then takes over its text, selection and focus. */
export function CodeEditor(props: EditorProps) {
  const latest = useRef(props);
  latest.current = props;
  const host = useRef<HTMLDivElement>(null);
  const plain = useRef<HTMLTextAreaElement>(null);
  const mounted = useRef<MountedEditor | undefined>(undefined);
  const [isThere, setIsThere] = useState(false);
  useEffect(() => {
    let isGone = false;
    void latest.current.load().then(async (mount) => {
      await nextTask(); // Loading the editor's code already causes a long task, so the editor is mounted in a separate task.
      if (isGone || host.current === null) return;
      const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
      const hadFocus = document.activeElement === plain.current;
      const { selectionStart = 0, selectionEnd = 0 } = plain.current ?? {};
      const { label, text, onSave } = latest.current;
      mounted.current = mount(root, {
        ...{ label, text },
        problem: () => latest.current.problem,
        onChange: (next) => latest.current.onChange(next),
        onRun: () => latest.current.onRun(),
        ...(onSave && { onSave: () => latest.current.onSave?.() }),
      });
      if (latest.current.problem !== undefined) mounted.current.showProblem(); // The problem was found before the editor loaded.
      flushSync(() => setIsThere(true)); // A hidden element cannot take the focus.
      if (!hadFocus) return;
      mounted.current.select(selectionStart, selectionEnd);
      mounted.current.focus();
    });
    return () => {
      isGone = true;
      mounted.current?.destroy();
      mounted.current = undefined;
    };
  }, []);
  const { label, text, problem, handle } = props;
  useEffect(() => mounted.current?.setText(text), [text]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor reads the problem itself.
  useEffect(() => mounted.current?.showProblem(), [problem]);
  useImperativeHandle(handle, () => ({
    insert(inserted) {
      if (mounted.current !== undefined) mounted.current.insert(inserted);
      else latest.current.onChange(latest.current.text + inserted);
    },
  }));
  return (
    <div className="code-editor">
      <div ref={host} className="code-editor-host" hidden={!isThere} />
      {!isThere && (
        <textarea
          ref={plain}
          className="input code-editor-plain"
          aria-label={label}
          spellCheck={false}
          value={text}
          onChange={(event) => props.onChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            props.onRun();
          }}
        />
      )}
    </div>
  );
}
