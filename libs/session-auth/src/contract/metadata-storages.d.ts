// The storage of class-transformer's decorator metadata has no public export; NestJS imports it from this
// path too.
declare module 'class-transformer/cjs/storage.js' {
  import type { MetadataStorage } from 'class-transformer/types/MetadataStorage.js';
  export const defaultMetadataStorage: MetadataStorage;
}

// The index of class-validator loads every validator of the package, which takes longer than all of this
// library. These files take a tenth of that. Their storage is a property of globalThis, so that it is the one
// of every copy of the package.
declare module 'class-validator/cjs/metadata/MetadataStorage.js' {
  export { getMetadataStorage } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/common/IsOptional.js' {
  export { IsOptional } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/common/ValidateBy.js' {
  export { ValidateBy } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/common/ValidateNested.js' {
  export { ValidateNested } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/typechecker/IsBoolean.js' {
  export { IsBoolean } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/typechecker/IsObject.js' {
  export { IsObject } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/typechecker/IsString.js' {
  export { IsString } from 'class-validator';
}
