import { type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../controls/console-api.js';
import { type Experiment, EXPERIMENTS, type Scene } from './experiment.js';

/** Renders the experiments: one is open at a time. */
export function Experiments({ scene }: { readonly scene: Scene }): VNode {
  const [open, setOpen] = useState<Experiment>();
  return (
    <section class="experiments" aria-labelledby="try-this">
      <h2 id="try-this">Try this</h2>
      <ol>
        {EXPERIMENTS.map((experiment) => (
          <li key={experiment.title}>
            <button type="button" aria-expanded={experiment === open} onClick={() => setOpen(experiment === open ? undefined : experiment)}>
              {experiment.title}
            </button>
          </li>
        ))}
      </ol>
      {open && <Open key={open.title} experiment={open} scene={scene} />}
    </section>
  );
}

function Open({ experiment, scene }: { readonly experiment: Experiment; readonly scene: Scene }): VNode {
  const [status, setStatus] = useState('');
  const set = () => {
    setStatus('Setting up…');
    experiment.set(scene).then(
      () => setStatus(experiment.then),
      (error: unknown) => setStatus(messageOf(error)),
    );
  };
  return (
    <div class="experiment">
      <p>{experiment.watch}</p>
      <button type="button" class="primary small" onClick={set}>
        {experiment.button}
      </button>
      <p class="then" aria-live="polite">
        {status}
      </p>
    </div>
  );
}
