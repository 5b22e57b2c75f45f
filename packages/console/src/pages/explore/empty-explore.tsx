import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { writeSampleData } from '../../api/samples.js';
import { CopyBox } from '../../components/controls/copy-button.js';
import { ProblemNote } from '../../components/controls/problem-note.js';

/** Nobody has written anything yet. */
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
        Tables appear with the first line that is written to them. These are four years of weather
        in Seattle and New York, to look around:
      </p>
      <button
        type="button"
        className="button primary"
        disabled={isBusy}
        onClick={() => void write()}
      >
        {isBusy ? 'Writing …' : 'Write sample data'}
      </button>
      <p className="soft">Or write a line of your own:</p>
      <CopyBox
        label="Copy the command"
        text={`curl "${location.origin}/api/v3/write_lp?db=mydb" \\\n  -H "Authorization: Bearer $PLINTH_TOKEN" \\\n  --data-binary 'cpu,host=a usage=12.5'`}
      />
      {error !== undefined && <ProblemNote error={error} />}
    </section>
  );
}
