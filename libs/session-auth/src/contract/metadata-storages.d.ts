// The index of each package loads all of it, which takes longer than all of this library. These files take a
// tenth of that. The storage of class-validator is a property of globalThis: that of every copy of the package.
declare module 'class-transformer/cjs/decorators/type.decorator.js' {
  export { Type } from 'class-transformer';
}
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
declare module 'class-validator/cjs/validation/ValidationExecutor.js' {
  export { ValidationExecutor } from 'class-validator/types/validation/ValidationExecutor.js';
}
declare module 'class-validator/cjs/validation/Validator.js' {
  export { Validator } from 'class-validator';
}
