import { queryRows } from '@plinth/console-core/api/tsdb.js';
import { type PlanStep, parsePlan } from '@plinth/console-core/lib/query/plan-tree.js';
import { useState } from 'react';
import { type ExploreSearch, textToSend } from '../explore-search.js';

interface PlanRow {
  readonly plan: string;
}

/** Runs EXPLAIN ANALYZE and parses the plan with the time of each step. */
export function usePlan() {
  const [state, setState] = useState<{ readonly plan?: PlanStep; readonly error?: unknown }>({});
  const explain = async (search: ExploreSearch): Promise<void> => {
    const query = textToSend(search);
    if (query === undefined) return;
    try {
      const rows = await queryRows<PlanRow>({
        ...query,
        isOwn: false,
        text: `EXPLAIN ANALYZE ${query.text}`,
      });
      const plan = rows.map((row) => parsePlan(row.plan)).findLast((each) => each !== undefined);
      setState(plan === undefined ? { error: new Error('the plan has no steps') } : { plan });
    } catch (error) {
      setState({ error });
    }
  };
  return { ...state, explain, close: () => setState({}) };
}
