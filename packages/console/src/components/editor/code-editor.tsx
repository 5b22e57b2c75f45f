import { type RefObject, useEffect, useImperativeHandle, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { SchemaTable } from '../../lib/query/completion.js';
import type { Language } from '../../lib/query/macros.js';
import type { MountedEditor } from './mount-editor.js';

export interface EditorHandle {
  insert(text: string): void;
}

interface EditorProps {
  readonly text: string;
  readonly language: Language;
  readonly schema: readonly SchemaTable[];
  readonly problem: { readonly position: number; readonly message: string } | undefined;
  readonly tagValues: (table: string, tag: string, typed: string) => Promise<readonly string[]>;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  readonly handle: RefObject<EditorHandle | null>;
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
    void import('./mount-editor.js').then(async ({ mountEditor }) => {
      await nextTask(); // Loading the editor's code already causes a long task, so the editor is mounted in a separate task.
      if (isGone || host.current === null) return;
      const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
      const hadFocus = document.activeElement === plain.current;
      const { selectionStart = 0, selectionEnd = 0 } = plain.current ?? {};
      mounted.current = mountEditor(root, {
        text: latest.current.text,
        language: () => latest.current.language,
        schema: () => latest.current.schema,
        tagValues: (table, tag, typed) => latest.current.tagValues(table, tag, typed),
        problem: () => latest.current.problem,
        onChange: (text) => latest.current.onChange(text),
        onRun: () => latest.current.onRun(),
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
  const { text, problem, handle } = props;
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
          aria-label="Query"
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
