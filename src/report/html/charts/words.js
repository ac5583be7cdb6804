// Formats numbers with three digits and a suitable unit.

// "1.23", "12.3", "123", "1234".
const threeDigits = (value) => value >= 999.5 ? value.toFixed(0) : value.toPrecision(3);

// `units`: name and size of each, largest first; `otherwise` formats values smaller than all of them.
const inUnits = (value, units, otherwise) => {
  // 999.6 would be written as 1000.
  const unit = units.find(([, size]) => value >= 0.9995 * size);
  return unit ? threeDigits(value / unit[1]) + " " + unit[0] : otherwise(value);
};
