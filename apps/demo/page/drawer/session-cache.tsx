import { type VNode } from 'preact';
import { type CacheChoice, TTL_SECONDS } from '../../src/backend/cache-choice.js';
import { putCache } from '../console/console-api.js';
import { Segmented } from './segmented.js';
import { useChoice } from './use-choice.js';

const TTL_OPTIONS = TTL_SECONDS.map((value) => ({ value, label: value === 0 ? 'Off' : lifetime(value) }));

/** Changes the session cache of the backend, and shows the price of each choice. */
export function SessionCache({ cache }: { readonly cache: CacheChoice }): VNode {
  const [chosen, choose, failure] = useChoice(cache, putCache);
  const off = chosen.ttlSeconds === 0;
  return (
    <section class="control" aria-labelledby="session-cache">
      <div class="control-head">
        <h3 id="session-cache">Session cache</h3>
        <Segmented
          name="ttl"
          legend="How long a session is cached"
          options={TTL_OPTIONS}
          value={chosen.ttlSeconds}
          choose={(ttlSeconds) => choose({ ...chosen, ttlSeconds })}
        />
      </div>
      <div class="line">
        <Tick
          label="Refresh ahead"
          on={chosen.refreshAhead}
          off={off}
          set={(refreshAhead) => choose({ ...chosen, refreshAhead })}
        />
        <Tick
          label="Stale if error"
          on={chosen.staleIfError}
          off={off}
          set={(staleIfError) => choose({ ...chosen, staleIfError })}
        />
      </div>
      <p class="hint" aria-live="polite">
        {failure ?? price(chosen)}
      </p>
    </section>
  );
}

interface TickProps {
  readonly label: string;
  readonly on: boolean;
  readonly off: boolean;
  readonly set: (on: boolean) => void;
}

function Tick({ label, on, off, set }: TickProps): VNode {
  return (
    <label class="tick">
      <input
        type="checkbox"
        checked={on}
        disabled={off}
        onChange={(event) => set(event.currentTarget.checked)}
      />{' '}
      {label}
    </label>
  );
}

function price({ ttlSeconds, staleIfError }: CacheChoice): string {
  if (ttlSeconds === 0)
    return 'Nothing is cached: every check calls the session service, or joins a call in flight.';
  const stale = staleIfError ? ', and for one more minute while the service is unavailable' : '';
  return `A session that was ended elsewhere still works here for up to ${lifetime(ttlSeconds)}${stale}.`;
}

function lifetime(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${seconds / 60} min`;
}
