import { useRef } from 'react';
import { CodeEditor, type EditorProps } from './code-editor.js';
import type { QueryDeps } from './mount-query.js';

/** An editor for SQL and InfluxQL with completions. */
export function QueryEditor(
  props: Omit<EditorProps, 'load' | 'label'> & {
    readonly language: ReturnType<QueryDeps['language']>;
    readonly schema: ReturnType<QueryDeps['schema']>;
    readonly tagValues: QueryDeps['tagValues'];
  },
) {
  const latest = useRef(props);
  latest.current = props;
  const { language: _language, schema: _schema, tagValues: _tagValues, ...editor } = props;
  return (
    <CodeEditor
      {...editor}
      label="Query"
      load={async () => {
        const { mountQuery } = await import('./mount-query.js');
        return (root, deps) =>
          mountQuery(root, deps, {
            language: () => latest.current.language,
            schema: () => latest.current.schema,
            tagValues: (...params) => latest.current.tagValues(...params),
          });
      }}
    />
  );
}
