import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      'test/package/empty-app/**',
      'test/toolchains/test-project/**',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      // A Nest module is a class without members.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // The project has no enums of its own, and this rule takes longer than any other.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      // Nest declares some of its option bags as classes.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
    },
  },
  {
    files: ['libs/*/{src,schematics}/**/*.ts', 'apps/demo/page/**/*.{ts,tsx}'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', { max: 40, skipComments: true, skipBlankLines: true }],
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector:
            ':function > Identifier.params[name=/^(exports|require)$/], ObjectPattern > Property[value.name=/^(exports|require)$/]',
          message: 'The CommonJS build refers to its own variable of this name here.',
        },
      ],
    },
  },
  {
    // Claims about types are made of type parameters and of names that nothing runs.
    files: ['test/types/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/no-unused-vars': 'off',
    },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        fetch: 'readonly',
        AbortSignal: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        Buffer: 'readonly',
        performance: 'readonly',
      },
    },
  },
);
