import { writeSampleData } from '@plinth/console-core/api/samples.js';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CopyBox } from '../../components/controls/copy-button.js';
import { ProblemNote } from '../../components/controls/problem-note.js';

/** The empty state of a server without data. */
export function EmptyExplore({ onWritten }: { readonly onWritten: () => void }) {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const write = async () => {
    setIsBusy(true);
    try {
      await writeSampleData();
      await client.invalidateQueries({ queryKey: ['tsdb'] });
      onWritten();
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <section className="empty card" aria-label="No data yet">
      <h2>No data yet</h2>
      <p className="soft">
        Explore queries and charts your data. To try it, load four years of weather data from
        Seattle and New York:
      </p>
      <button
        type="button"
        className="button primary"
        disabled={isBusy}
        onClick={() => void write()}
      >
        {isBusy ? 'Loading …' : 'Load sample data'}
      </button>
      <p className="soft">Or write your own data:</p>
      <CopyBox
        label="Copy command"
        text={`curl "${location.origin}/api/v3/write_lp?db=mydb" \\\n  -H "Authorization: Bearer $PLINTH_TOKEN" \\\n  --data-binary 'cpu,host=a usage=12.5'`}
      />
      {error !== undefined && <ProblemNote error={error} />}
    </section>
  );
}
