// Zarr's specification, version 2: https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html, version 3:
// https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html
#include "data/zarr/zarr_metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fairlead/error.hpp>
#include <iterator>
#include <limits>
#include <utility>

#include "base/json.hpp"
#include "data/matrix/numpy_type.hpp"

namespace fairlead::data {
namespace {

/// Metadata with the name of its array, which all errors state.
class Metadata {
 public:
  Metadata(std::string_view text, const std::string& name) : name_(name) {
    std::optional<Json> parsed = Json::parse(text);
    if (!parsed || parsed->members() == nullptr) malformed("it is not a JSON object");
    root_ = std::move(*parsed);
  }

  const Json& root() const noexcept { return root_; }
  const std::string& name() const noexcept { return name_; }

  [[noreturn]] void malformed(const std::string& what) const {
    throw InputError(fmt::format("{}: the metadata of this Zarr array are malformed: {}", name_, what));
  }
  [[noreturn]] void unsupported(const std::string& what) const {
    throw InputError(fmt::format("{}: {} of this Zarr array is not supported", name_, what));
  }

  const Json& required(const Json& of, std::string_view key) const {
    const Json* const value = of.find(key);
    if (value == nullptr) malformed(fmt::format("'{}' is missing", key));
    return *value;
  }
  std::string text(const Json& of, std::string_view key) const {
    const std::string* const value = required(of, key).string();
    if (value == nullptr) malformed(fmt::format("'{}' is not a text", key));
    return *value;
  }
  std::vector<std::uint64_t> counts(const Json& of, std::string_view key) const {
    const std::vector<Json>* const values = required(of, key).elements();
    if (values == nullptr) malformed(fmt::format("'{}' is not a list", key));
    std::vector<std::uint64_t> all;
    for (const Json& value : *values) {
      if (!value.count()) malformed(fmt::format("'{}' has an element that is no whole number from 0", key));
      all.push_back(*value.count());
    }
    return all;
  }
  /// The name of a codec or grid, which is an object with 'name', or its name alone.
  std::string name_of(const Json& extension) const {
    return extension.string() != nullptr ? *extension.string() : text(extension, "name");
  }
  /// Its configuration, which may be missing.
  const Json& configuration_of(const Json& extension) const {
    const Json* const found = extension.find("configuration");
    return found == nullptr ? none_ : *found;
  }
  void require_format(std::uint64_t version) const {
    const Json& format = required(root_, "zarr_format");
    if (format.count() != version) malformed(fmt::format("'zarr_format' is not {}", version));
  }
  std::string separator(const Json& of, std::string_view key, const char* by_default) const {
    const std::string text_of = of.find(key) == nullptr ? by_default : text(of, key);
    if (text_of != "." && text_of != "/") malformed(fmt::format("'{}' is neither . nor /", key));
    return text_of;
  }

 private:
  const std::string& name_;
  Json root_;
  Json none_ = Json::object();
};

/// A fill value: a number, or the name or the bytes of one. Of a complex number one of its parts.
double fill_number(const Metadata& metadata, const Json& value, bool in_single) {
  if (const std::optional<double> number = value.number()) return *number;
  if (const std::string* const text = value.string()) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (*text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (*text == "Infinity") return infinity;
    if (*text == "-Infinity") return -infinity;
    if (text->starts_with("0x") && text->size() == (in_single ? 10u : 18u) &&
        text->find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos) {
      const std::uint64_t bits = std::strtoull(text->c_str(), nullptr, 16);
      return in_single ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                       : std::bit_cast<double>(bits);
    }
  }
  metadata.malformed("'fill_value' is not a number");
}

/// Complex numbers are lists of two parts; some programs write a real one.
std::complex<double> fill_value(const Metadata& metadata, const Json& value, ElementType element) {
  const bool in_single = is_single(element);
  const std::vector<Json>* const parts = is_complex(element) ? value.elements() : nullptr;
  if (parts == nullptr) return fill_number(metadata, value, in_single);
  if (parts->size() != 2) metadata.malformed("'fill_value' does not have two parts");
  return {fill_number(metadata, parts->front(), in_single), fill_number(metadata, parts->back(), in_single)};
}

void require_chunks(const Metadata& metadata, const ArrayLayout& layout,
                    const std::vector<std::uint64_t>& chunk) {
  require_matrix_shape(metadata.name(), layout);
  ArrayLayout of_chunk = layout;
  of_chunk.shape = chunk;
  if (chunk.size() != layout.shape.size() || std::ranges::count(chunk, 0u) > 0)
    metadata.malformed(fmt::format("chunks of shape {} for an array of shape {}", shape_text(chunk),
                                   shape_text(layout.shape)));
  require_matrix_shape(metadata.name(), of_chunk);
}

/// The codecs of version 3 from an array to bytes.
struct Pipeline {
  ZarrCodecs codecs{};
  StorageOrder order = StorageOrder::c;
  bool makes_bytes = false;
  bool big_endian = false;
  const Json* sharding = nullptr;  // its configuration
};

StorageOrder order_after_transpose(const Metadata& metadata, const Json& configuration, StorageOrder order) {
  const Json& given = metadata.required(configuration, "order");
  if (given.string() != nullptr) return *given.string() == "F" ? StorageOrder::fortran : order;
  const std::vector<std::uint64_t> axes = metadata.counts(configuration, "order");
  if (axes == std::vector<std::uint64_t>{1, 0})
    return order == StorageOrder::c ? StorageOrder::fortran : StorageOrder::c;
  if (axes != std::vector<std::uint64_t>{0, 1} && axes != std::vector<std::uint64_t>{0})
    metadata.malformed("the order of 'transpose' has other dimensions than the array");
  return order;
}

void add_codec(Pipeline& pipeline, const Metadata& metadata, const Json& codec) {
  const std::string name = metadata.name_of(codec);
  const Json& configuration = metadata.configuration_of(codec);
  if (!pipeline.makes_bytes && name == "transpose") {
    pipeline.order = order_after_transpose(metadata, configuration, pipeline.order);
  } else if (!pipeline.makes_bytes && name == "bytes") {
    pipeline.makes_bytes = true;
    pipeline.big_endian =
        configuration.find("endian") != nullptr && metadata.text(configuration, "endian") == "big";
  } else if (!pipeline.makes_bytes && name == "sharding_indexed") {
    pipeline.makes_bytes = true;
    pipeline.sharding = &configuration;
  } else if (pipeline.makes_bytes && name == "crc32c" && !pipeline.codecs.checksum) {
    pipeline.codecs.checksum = true;
  } else if (pipeline.makes_bytes && pipeline.codecs.compression.empty() && !pipeline.codecs.checksum) {
    pipeline.codecs.compression = name;
  } else {
    metadata.unsupported(fmt::format("the codec '{}'", name));
  }
}

/// `owner`: has the member 'codecs', and outlives the result.
Pipeline pipeline_of(const Metadata& metadata, const Json& owner) {
  const std::vector<Json>* const all = metadata.required(owner, "codecs").elements();
  if (all == nullptr) metadata.malformed("'codecs' is not a list");
  Pipeline pipeline;
  for (const Json& codec : *all) add_codec(pipeline, metadata, codec);
  if (!pipeline.makes_bytes) metadata.malformed("no codec turns the elements into bytes");
  return pipeline;
}

void set_shards(ZarrMetadata& result, const Metadata& metadata, const Pipeline& outer) {
  if (!outer.codecs.compression.empty() || outer.codecs.checksum || outer.order != StorageOrder::c)
    metadata.unsupported("a codec before or behind sharding");
  const std::vector<std::uint64_t> whole = result.chunk;
  result.chunk = metadata.counts(*outer.sharding, "chunk_shape");
  require_chunks(metadata, result.layout, result.chunk);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] % result.chunk[i] != 0)
      metadata.malformed(fmt::format("shards of shape {} cannot be divided into chunks of shape {}",
                                     shape_text(whole), shape_text(result.chunk)));
    result.shard.push_back(whole[i] / result.chunk[i]);
  }
  if (const Json* const location = outer.sharding->find("index_location"))
    result.index_at_start = location->string() != nullptr && *location->string() == "start";
  const std::vector<Json>* const index = metadata.required(*outer.sharding, "index_codecs").elements();
  if (index == nullptr || index->empty() || index->size() > 2 ||
      metadata.name_of(index->front()) != "bytes" ||
      (index->size() == 2 && metadata.name_of(index->back()) != "crc32c"))
    metadata.unsupported("the index of the shards");
  const Json& bytes = metadata.configuration_of(index->front());
  if (bytes.find("endian") != nullptr && metadata.text(bytes, "endian") != "little")
    metadata.unsupported("the byte order of the index of the shards");
  result.index_checksum = index->size() == 2;
}

}  // namespace

std::string ZarrMetadata::key(const std::vector<std::uint64_t>& indices) const {
  std::string text = key_prefix;
  for (const std::uint64_t index : indices) {
    if (!text.empty()) text += separator;
    text += std::to_string(index);
  }
  return text;
}

ZarrMetadata parse_zarr_v2(std::string_view text, const std::string& name) {
  const Metadata metadata(text, name);
  metadata.require_format(2);
  const Json& root = metadata.root();
  ZarrMetadata result;
  if (metadata.required(root, "dtype").string() == nullptr)
    throw InputError(fmt::format("{}: holds records of several fields; {}", name, supported_numpy_types));
  set_numpy_type(result.layout, metadata.text(root, "dtype"), name);
  result.layout.shape = metadata.counts(root, "shape");
  result.chunk = metadata.counts(root, "chunks");
  require_chunks(metadata, result.layout, result.chunk);
  const std::string order = metadata.text(root, "order");
  if (order != "C" && order != "F") metadata.malformed("'order' is neither C nor F");
  result.layout.order = order == "C" ? StorageOrder::c : StorageOrder::fortran;
  const Json& compressor = metadata.required(root, "compressor");
  if (!compressor.is_null()) result.codecs.compression = metadata.text(compressor, "id");
  if (const Json* const filters = root.find("filters");
      filters != nullptr && filters->elements() != nullptr && !filters->elements()->empty())
    metadata.unsupported(fmt::format("the filter '{}'", metadata.text(filters->elements()->front(), "id")));
  if (const Json& fill = metadata.required(root, "fill_value"); !fill.is_null())
    result.fill = fill_value(metadata, fill, result.layout.element);
  result.separator = metadata.separator(root, "dimension_separator", ".")[0];
  return result;
}

ZarrMetadata parse_zarr_v3(std::string_view text, const std::string& name) {
  const Metadata metadata(text, name);
  metadata.require_format(3);
  const Json& root = metadata.root();
  ZarrMetadata result;
  const Json& type = metadata.required(root, "data_type");
  const std::string type_name = metadata.name_of(type);
  constexpr std::pair<std::string_view, ElementType> types[] = {{"float32", ElementType::float32},
                                                                {"float64", ElementType::float64},
                                                                {"complex64", ElementType::complex64},
                                                                {"complex128", ElementType::complex128}};
  const auto* const known =
      std::ranges::find(types, type_name, &std::pair<std::string_view, ElementType>::first);
  if (known == std::end(types))
    throw InputError(
        fmt::format("{}: holds elements of type {}; supported are float32, float64, complex64 and complex128",
                    name, type_name));
  result.layout.element = known->second;
  result.layout.shape = metadata.counts(root, "shape");

  const Json& grid = metadata.required(root, "chunk_grid");
  if (metadata.name_of(grid) != "regular")
    metadata.unsupported(fmt::format("the chunk grid '{}'", metadata.name_of(grid)));
  result.chunk = metadata.counts(metadata.configuration_of(grid), "chunk_shape");
  require_chunks(metadata, result.layout, result.chunk);

  const Json& encoding = metadata.required(root, "chunk_key_encoding");
  const std::string encoding_name = metadata.name_of(encoding);
  const bool by_default = encoding_name == "default";
  if (!by_default && encoding_name != "v2")
    metadata.unsupported(fmt::format("the chunk key encoding '{}'", encoding_name));
  result.key_prefix = by_default ? "c" : "";
  result.separator =
      metadata.separator(metadata.configuration_of(encoding), "separator", by_default ? "/" : ".")[0];

  Pipeline pipeline = pipeline_of(metadata, root);
  if (pipeline.sharding != nullptr) {
    set_shards(result, metadata, pipeline);
    pipeline = pipeline_of(metadata, *pipeline.sharding);
    if (pipeline.sharding != nullptr) metadata.unsupported("a shard in a shard");
  }
  result.codecs = pipeline.codecs;
  result.layout.order = pipeline.order;
  result.layout.byte_swapped = pipeline.big_endian == (std::endian::native == std::endian::little);

  if (const Json* const transformers = root.find("storage_transformers");
      transformers != nullptr && transformers->elements() != nullptr && !transformers->elements()->empty())
    metadata.unsupported("the storage transformer");
  result.fill = fill_value(metadata, metadata.required(root, "fill_value"), result.layout.element);
  return result;
}

bool is_zarr_group(std::string_view text) {
  const std::optional<Json> parsed = Json::parse(text);
  const Json* const type = parsed ? parsed->find("node_type") : nullptr;
  return type != nullptr && type->string() != nullptr && *type->string() == "group";
}

}  // namespace fairlead::data
