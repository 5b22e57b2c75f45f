import {
  PARAMETER_TYPES,
  parameterJson,
  typeKey,
  typeOf,
  valueKey,
} from '@plinth/console-core/lib/query/parameters.js';
import { useId } from 'react';
import { useSearchParams } from '../../components/search/use-search-params.js';
import type { ExploreSearch } from './explore-search.js';

interface ParameterProps {
  readonly onChange: (change: ExploreSearch) => void;
  readonly onRun: (change: ExploreSearch) => void;
}

/** A field for each `$name` of the statement. Values are kept in the address and sent as query parameters, never as text. */
export function ParameterRow(props: ParameterProps & { readonly names: readonly string[] }) {
  const { names, ...rest } = props;
  if (names.length === 0) return null;
  return (
    <fieldset className="explore-parameters" aria-label="Parameters">
      {names.map((name) => (
        <Parameter key={name} name={name} {...rest} />
      ))}
    </fieldset>
  );
}

function Parameter({ name, onChange, onRun }: ParameterProps & { readonly name: string }) {
  const id = useId();
  const [search] = useSearchParams();
  const key = valueKey(name);
  const type = typeOf(search, name);
  const value = search[key] ?? '';
  const isWrong = parameterJson(value, type) === undefined;
  return (
    <span className="row">
      <label htmlFor={id} className="mono">
        ${name}
      </label>
      <input
        id={id}
        className="input mono"
        autoComplete="off"
        aria-invalid={isWrong}
        value={value}
        onChange={(event) => onChange({ [key]: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onRun({ [key]: value });
        }}
      />
      <select
        className="input"
        aria-label={`Type of $${name}`}
        value={type}
        onChange={(event) => onChange({ [typeKey(name)]: event.target.value })}
      >
        {PARAMETER_TYPES.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    </span>
  );
}
