import { type VNode } from 'preact';
import { SCENES, type SceneName } from '../../src/console/messages.js';
import { SCRIPTS } from './scripts.js';

/** Renders the scenes to choose from. */
export function SceneCards({ start }: { readonly start: (name: SceneName) => void }): VNode {
  return (
    <section aria-labelledby="scenes">
      <h2 id="scenes" class="visually-hidden">
        Scenes
      </h2>
      <ul class="cards">
        {SCENES.map((name) => (
          <li key={name}>
            <button type="button" class="card" onClick={() => start(name)}>
              <strong>{SCRIPTS[name].title}</strong> <span>{SCRIPTS[name].question}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
