import { type VNode } from 'preact';
import { type CacheChoice, TTL_SECONDS } from '../../src/backend/cache-choice.js';
import { putCache } from './console-api.js';
import { Segmented } from './segmented.js';
import { useChoice } from './use-choice.js';

const TTL_OPTIONS = TTL_SECONDS.map((value) => ({ value, label: value === 0 ? 'Off' : lifetime(value) }));

/** How the backend remembers sessions, and what that costs. */
export function Memory({ cache }: { readonly cache: CacheChoice }): VNode {
  const [chosen, choose, failure] = useChoice(cache, putCache);
  const off = chosen.ttlSeconds === 0;
  return (
    <section class="control" aria-labelledby="memory">
      <div class="control-head">
        <h2 id="memory">Memory</h2>
        <Segmented
          name="ttl"
          legend="How long a session is remembered"
          options={TTL_OPTIONS}
          value={chosen.ttlSeconds}
          choose={(ttlSeconds) => choose({ ...chosen, ttlSeconds })}
        />
      </div>
      <div class="line">
        <Tick label="Refresh ahead" on={chosen.refreshAhead} off={off} set={(refreshAhead) => choose({ ...chosen, refreshAhead })} />
        <Tick label="Stale if error" on={chosen.staleIfError} off={off} set={(staleIfError) => choose({ ...chosen, staleIfError })} />
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
      <input type="checkbox" checked={on} disabled={off} onChange={(event) => set(event.currentTarget.checked)} /> {label}
    </label>
  );
}

function price({ ttlSeconds, staleIfError }: CacheChoice): string {
  if (ttlSeconds === 0) return 'Nothing is remembered: every request asks the service, or shares a call that is under way.';
  const stale = staleIfError ? ', and a minute more while the service is unavailable' : '';
  return `A session that was ended elsewhere still works here for up to ${lifetime(ttlSeconds)}${stale}.`;
}

function lifetime(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${seconds / 60} min`;
}
